/** Stores sign-ups that wait for an administrator, and what became of them. */
import { sql } from "kysely";
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../db/records.ts";
import type { SignUpTable } from "../../db/tables/users.ts";

export const signUpStates = ["waiting", "approved", "rejected"] as const;
export type SignUpState = (typeof signUpStates)[number];

export interface SignUp extends Omit<RecordOf<SignUpTable>, "state"> {
  readonly state: SignUpState;
}

export interface SignUpKey {
  readonly orgId: string;
  readonly id: string;
}

const fromRow = (row: SignUpTable): SignUp => ({ ...toRecord(row), state: row.state as SignUpState });

/** Of an address that waits already: what was said last counts, and its place in the queue stays. @returns its id */
export async function putWaiting(tx: Db, signUp: SignUp): Promise<string> {
  const { id: _, org_id: __, email_key: ___, created_at: ____, ...said } = toRow(signUp);
  const { id } = await tx
    .insertInto("sign_up")
    .values(toRow(signUp))
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "email_key"])
        // As in the partial index.
        .where("state", "=", sql.lit("waiting"))
        .doUpdateSet(said),
    )
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** What an administrator decides, in one conditional statement: of two, one gets it. */
export interface Decision {
  readonly state: Exclude<SignUpState, "waiting">;
  readonly reason: string | null;
  readonly userId: string | null;
  readonly now: number;
  readonly expiresAt: number;
}

/** The password is needed no longer. @returns false when it is decided */
export const decideRow = (
  tx: Db,
  { orgId, id }: SignUpKey,
  { state, reason, userId, now, expiresAt }: Decision,
): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("sign_up")
      .set({ state, reason, user_id: userId, password_hash: null, decided_at: now, updated_at: now })
      .set({ expires_at: expiresAt })
      .where((eb) => allOf(eb, { org_id: orgId, id, state: "waiting" })),
  );

/** Until the end of the transaction. */
export async function lockSignUp(tx: Db, { orgId, id }: SignUpKey): Promise<SignUp | undefined> {
  const row = await tx
    .updateTable("sign_up")
    .set((eb) => ({ updated_at: eb.ref("updated_at") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

export async function findSignUp(db: Db, { orgId, id }: SignUpKey): Promise<SignUp | undefined> {
  const row = await db
    .selectFrom("sign_up")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Of the link that was used for it. */
export async function findSignUpOfLink(
  db: Db,
  { orgId, linkHash }: { readonly orgId: string; readonly linkHash: string },
): Promise<SignUp | undefined> {
  const row = await db
    .selectFrom("sign_up")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, link_hash: linkHash }))
    .executeTakeFirst();
  return row && fromRow(row);
}

export async function countWaiting(db: Db, orgId: string): Promise<number> {
  const row = await db
    .selectFrom("sign_up")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where((eb) => allOf(eb, { org_id: orgId, state: "waiting" }))
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Oldest first. */
export async function listWaiting(db: Db, orgId: string, limit: number): Promise<SignUp[]> {
  const rows = await db
    .selectFrom("sign_up")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, state: "waiting" }))
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(fromRow);
}

/** Whoever leaves leaves nothing here. */
export async function deleteSignUpsOf(
  tx: Db,
  { orgId, emailKey }: { readonly orgId: string; readonly emailKey: string },
): Promise<void> {
  await tx
    .deleteFrom("sign_up")
    .where((eb) => allOf(eb, { org_id: orgId, email_key: emailKey }))
    .execute();
}
