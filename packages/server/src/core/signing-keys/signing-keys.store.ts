/** Signing keys; private parts are sealed. */

import type { TokenAlg } from "@signet/protocol/jose/jws";
import { hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord } from "../../db/records.ts";
import type { SigningKeyTable } from "../../db/tables/tokens.ts";
import type { KeyTimes } from "./signing-key.ts";

export type SigningKeyRow = SigningKeyTable;

/** The keys of the organisation's JWKS, oldest first. */
export async function findSigningKeys(db: Db, orgId: string, now: number): Promise<SigningKeyRow[]> {
  return db
    .selectFrom("signing_key")
    .selectAll()
    .where("org_id", "=", orgId)
    .where((eb) => eb.or([eb("retire_at", "is", null), eb("retire_at", ">", now)]))
    .orderBy("created_at")
    .orderBy("kid")
    .execute();
}

/** All stored keys of the organisation, retired ones included, oldest first, without private parts. */
export async function listSigningKeys(db: Db, orgId: string): Promise<KeyTimes[]> {
  const rows = await db
    .selectFrom("signing_key")
    .select(["kid", "alg", "created_at", "active_from", "retire_at"])
    .where("org_id", "=", orgId)
    .orderBy("created_at")
    .orderBy("kid")
    .execute();
  return rows.map((row) => ({ ...toRecord(row), alg: row.alg as TokenAlg }));
}

export type SealedKey = Pick<SigningKeyRow, "org_id" | "kid" | "private_key">;

/** The sealed private keys of every organisation, by page. */
export async function listSealedKeys(
  db: Db,
  page: { after?: SealedKey; limit: number },
): Promise<SealedKey[]> {
  const { org_id, kid } = page.after ?? { org_id: "", kid: "" };
  return db
    .selectFrom("signing_key")
    .select(["org_id", "kid", "private_key"])
    .where((eb) => eb(eb.refTuple("org_id", "kid"), ">", eb.tuple(org_id, kid)))
    .orderBy("org_id")
    .orderBy("kid")
    .limit(page.limit)
    .execute();
}

/** Any key of any organisation: all are sealed under one master key. */
export function findAnySigningKey(db: Db): Promise<SigningKeyRow | undefined> {
  return db.selectFrom("signing_key").selectAll().limit(1).executeTakeFirst();
}

/**
 * The newest key of each algorithm of enabled organisations that was created before a time; oldest first. A key from a clock
 * far ahead is due too: it would not sign until that time.
 */
export async function findKeysToRotate(
  db: Db,
  createdAt: { before: number; after: number },
  limit: number,
): Promise<Array<{ orgId: string; alg: string; kid: string }>> {
  return db
    .selectFrom("signing_key")
    .innerJoin("organisation", "organisation.id", "signing_key.org_id")
    .select(["signing_key.org_id as orgId", "signing_key.alg as alg", "signing_key.kid as kid"])
    .where("signing_key.retire_at", "is", null)
    .where((eb) =>
      eb.or([
        eb("signing_key.created_at", "<=", createdAt.before),
        eb("signing_key.created_at", ">", createdAt.after),
      ]),
    )
    .where("organisation.disabled_at", "is", null)
    .orderBy("signing_key.created_at")
    .limit(limit)
    .execute();
}

/** @returns false when another node has just inserted the newest key of the algorithm */
export function insertSigningKey(db: Db, row: SigningKeyRow): Promise<boolean> {
  return hasRow(
    db
      .insertInto("signing_key")
      .values(row)
      .onConflict((key) => key.columns(["org_id", "alg"]).where("retire_at", "is", null).doNothing())
      .returning("kid"),
  );
}

/** Takes the key out of the JWKS at that time, or at an earlier one that was set before. */
export async function setRetirement(
  db: Db,
  key: { orgId: string; kid: string },
  retireAt: number,
): Promise<void> {
  await db
    .updateTable("signing_key")
    .set({ retire_at: retireAt })
    .where((eb) => allOf(eb, { org_id: key.orgId, kid: key.kid }))
    .where((eb) => eb.or([eb("retire_at", "is", null), eb("retire_at", ">", retireAt)]))
    .execute();
}
