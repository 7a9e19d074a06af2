/** Stores codes that were sent by email: one for each holder, for ten minutes and five tries. */
import { hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../db/records.ts";
import type { EmailCodeTable } from "../../db/tables/guards.ts";

export type EmailCode = RecordOf<EmailCodeTable>;
/** `holderHash`: SHA-256 of a secret that one browser has. */
export type EmailCodeKey = Pick<EmailCode, "orgId" | "holderHash">;
export interface LinkKey {
  readonly orgId: string;
  /** SHA-256 of the link's token. */
  readonly linkHash: string;
}

/** In place of the holder's previous one. */
export async function putEmailCode(tx: Db, code: Omit<EmailCode, "tries">): Promise<void> {
  const row = { ...toRow(code), tries: 0 };
  await tx
    .insertInto("email_code")
    .values(row)
    .onConflict((conflict) => conflict.columns(["org_id", "holder_hash"]).doUpdateSet(row))
    .execute();
}

export async function findEmailCode(
  db: Db,
  { orgId, holderHash }: EmailCodeKey,
): Promise<EmailCode | undefined> {
  const row = await db
    .selectFrom("email_code")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, holder_hash: holderHash }))
    .executeTakeFirst();
  return row && toRecord(row);
}

/** What a code is still good for: guesses at it end its link too. */
export interface Usable {
  readonly now: number;
  readonly max: number;
}

/** By its link. @returns undefined when it has ended */
export async function findCodeOfLink(
  db: Db,
  { orgId, linkHash }: LinkKey,
  { now, max }: Usable,
): Promise<EmailCode | undefined> {
  const row = await db
    .selectFrom("email_code")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, link_hash: linkHash }))
    .where("expires_at", ">", now)
    .where("tries", "<", max)
    .executeTakeFirst();
  return row && toRecord(row);
}

/** By its link, in the browser that has asked for it. @returns undefined when it has ended, or another request was first */
export async function takeCodeOfLink(
  db: Db,
  { orgId, linkHash, holderHash }: LinkKey & EmailCodeKey,
  { now, max }: Usable,
): Promise<EmailCode | undefined> {
  const row = await db
    .deleteFrom("email_code")
    .where((eb) => allOf(eb, { org_id: orgId, link_hash: linkHash, holder_hash: holderHash }))
    .where("expires_at", ">", now)
    .where("tries", "<", max)
    .returningAll()
    .executeTakeFirst();
  return row && toRecord(row);
}

/** Counts before it is known whether the code is right: of many at once no more than `max` are compared. */
export async function takeTry(
  db: Db,
  { orgId, holderHash }: EmailCodeKey,
  { now, max }: Usable,
): Promise<EmailCode | undefined> {
  const row = await db
    .updateTable("email_code")
    .set((eb) => ({ tries: eb("tries", "+", 1) }))
    .where((eb) => allOf(eb, { org_id: orgId, holder_hash: holderHash }))
    .where("expires_at", ">", now)
    .where("tries", "<", max)
    .returningAll()
    .executeTakeFirst();
  return row && toRecord(row);
}

/** @param codeMac of the code that is taken; default: whichever it is. @returns false when it has been taken, or replaced */
export const deleteEmailCode = (
  db: Db,
  { orgId, holderHash }: EmailCodeKey,
  codeMac?: string,
): Promise<boolean> => {
  const query = db
    .deleteFrom("email_code")
    .where((eb) => allOf(eb, { org_id: orgId, holder_hash: holderHash }));
  return hasRow(
    (codeMac === undefined ? query : query.where("code_mac", "=", codeMac)).returning("holder_hash"),
  );
};
