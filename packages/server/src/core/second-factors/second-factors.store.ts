/** Stores authenticator apps and hashes of recovery codes, and counts the second factors of a user. */

import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { FactorOwner, FactorSummary } from "./second-factor.ts";

/** The columns of an owner. */
export const ownedBy = ({ homeOrgId, userId }: FactorOwner) => ({ org_id: homeOrgId, user_id: userId });

const countFactors = prepared((db, value: Parameter<{ homeOrgId: string; userId: string }>) => {
  const count = <Table extends "totp_credential" | "passkey" | "recovery_code">(table: Table) =>
    db
      .selectFrom(table as "recovery_code")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where((eb) => allOf(eb, { org_id: value("homeOrgId"), user_id: value("userId") }));
  return db.selectNoFrom([
    count("totp_credential").as("totp"),
    count("passkey").as("passkeys"),
    count("recovery_code").where("used_at", "is", null).as("recovery_codes"),
  ]);
});

export async function findFactorSummary(db: Db, { homeOrgId, userId }: FactorOwner): Promise<FactorSummary> {
  const [row] = await countFactors(db, { homeOrgId, userId });
  return {
    hasTotp: (row?.totp ?? 0) > 0,
    passkeys: row?.passkeys ?? 0,
    recoveryCodes: row?.recovery_codes ?? 0,
  };
}

export interface StoredTotp {
  /** Changes with every new secret. */
  readonly id: string;
  /** Encrypted. */
  readonly secret: string;
  readonly lastStep: number;
  readonly createdAt: number;
}

export async function findTotp(db: Db, owner: FactorOwner): Promise<StoredTotp | undefined> {
  const row = await db
    .selectFrom("totp_credential")
    .select(["id", "secret", "last_step", "created_at"])
    .where((eb) => allOf(eb, ownedBy(owner)))
    .executeTakeFirst();
  return row && toRecord(row);
}

/** A user has one authenticator app: a new one replaces it. */
export async function putTotp(db: Db, owner: FactorOwner, totp: StoredTotp): Promise<void> {
  await db
    .insertInto("totp_credential")
    .values({ ...toRow(totp), ...ownedBy(owner) })
    .onConflict((conflict) => conflict.columns(["org_id", "user_id"]).doUpdateSet(toRow(totp)))
    .execute();
}

/** Consumes a time step (RFC 6238 §5.2). @returns false if it, or a later one, was used before */
export const consumeTotpStep = (
  db: Db,
  owner: FactorOwner,
  { id, step }: { id: string; step: number },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("totp_credential")
      .set({ last_step: step })
      .where((eb) => allOf(eb, { ...ownedBy(owner), id }))
      .where("last_step", "<", step),
  );

export const deleteTotp = (db: Db, owner: FactorOwner): Promise<boolean> =>
  affectsAny(db.deleteFrom("totp_credential").where((eb) => allOf(eb, ownedBy(owner))));

export async function replaceRecoveryCodes(
  db: Db,
  owner: FactorOwner,
  hashes: readonly string[],
  now: number,
): Promise<void> {
  await deleteRecoveryCodes(db, owner);
  const code = { ...ownedBy(owner), created_at: now, used_at: null };
  await db
    .insertInto("recovery_code")
    .values(hashes.map((hash) => ({ ...code, code_hash: hash })))
    .execute();
}

export const isUnusedRecoveryCode = (db: Db, owner: FactorOwner, hash: string): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("recovery_code")
      .select("code_hash")
      .where((eb) => allOf(eb, { ...ownedBy(owner), code_hash: hash }))
      .where("used_at", "is", null),
  );

/** Consumes a code. @returns false if it is unknown or was used before */
export const consumeRecoveryCode = (
  db: Db,
  owner: FactorOwner,
  { hash, now }: { hash: string; now: number },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("recovery_code")
      .set({ used_at: now })
      .where((eb) => allOf(eb, { ...ownedBy(owner), code_hash: hash }))
      .where("used_at", "is", null),
  );

/** When the oldest code was made, used or not; undefined without codes. */
export async function findRecoveryCodesSince(db: Db, owner: FactorOwner): Promise<number | undefined> {
  const row = await db
    .selectFrom("recovery_code")
    .select("created_at")
    .where((eb) => allOf(eb, ownedBy(owner)))
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
  return row?.created_at;
}

/** Codes count as made no later than at `since`. */
export async function backdateRecoveryCodes(db: Db, owner: FactorOwner, since: number): Promise<void> {
  await db
    .updateTable("recovery_code")
    .set({ created_at: since })
    .where((eb) => allOf(eb, ownedBy(owner)))
    .where("created_at", ">", since)
    .execute();
}

export async function deleteRecoveryCodes(db: Db, owner: FactorOwner): Promise<void> {
  await db
    .deleteFrom("recovery_code")
    .where((eb) => allOf(eb, ownedBy(owner)))
    .execute();
}
