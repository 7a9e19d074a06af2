/** What identity providers have said of the sign-ins by them. Session, tokens and keys find theirs by user and time of sign-in. */
import { sql } from "kysely";
import { hasRow } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import type { Db } from "../../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../../db/records.ts";
import { lockedInOrder } from "../../../db/row-locks.ts";
import type { UpstreamSignInTable } from "../../../db/tables/connections.ts";

export interface UpstreamSignIn extends Omit<RecordOf<UpstreamSignInTable>, "amr"> {
  readonly amr: readonly string[] | null;
}

export type UpstreamSignInKey = Pick<UpstreamSignIn, "orgId" | "userId" | "signedInAt">;

/** @returns false when the user has signed in by a provider at this moment */
export const insertUpstreamSignIn = (tx: Db, { amr, ...signIn }: UpstreamSignIn): Promise<boolean> =>
  hasRow(
    tx
      .insertInto("upstream_sign_in")
      .values(toRow({ ...signIn, amr: amr && JSON.stringify(amr) }))
      .onConflict((conflict) => conflict.doNothing())
      .returning("user_id"),
  );

export async function findUpstreamSignIn(
  db: Db,
  { orgId, userId, signedInAt }: UpstreamSignInKey,
): Promise<UpstreamSignIn | undefined> {
  const row = await db
    .selectFrom("upstream_sign_in")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId, signed_in_at: signedInAt }))
    .executeTakeFirst();
  if (!row) return undefined;
  return { ...toRecord(row), amr: row.amr === null ? null : (JSON.parse(row.amr) as string[]) };
}

/** Of a connection: of one user, of one session there, of one `sub`, or all. */
export interface FromConnection {
  readonly orgId: string;
  readonly connectionId: string;
  readonly userId?: string;
  readonly sid?: string;
  readonly subject?: string;
}

/** Locks them: a sign-in that is just starting its session is waited for. */
export async function lockUpstreamSignIns(
  tx: Db,
  { orgId, connectionId, userId, sid, subject }: FromConnection,
): Promise<Array<Pick<UpstreamSignIn, "userId" | "signedInAt">>> {
  let query = tx
    .selectFrom("upstream_sign_in")
    .select(["user_id", "signed_in_at"])
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: connectionId }));
  if (userId !== undefined) query = query.where("user_id", "=", userId);
  if (sid !== undefined) query = query.where("sid", "=", sid);
  if (subject !== undefined) query = query.where("subject", "=", subject);
  const ordered = query.orderBy("user_id").orderBy("signed_in_at");
  const rows = await (isPostgres(tx) ? ordered.forUpdate() : ordered).execute();
  return rows.map((row) => toRecord(row));
}

/** Nothing that comes from them starts any more. */
export async function deleteUpstreamSignIns(
  tx: Db,
  {
    orgId,
    userId,
    times,
  }: { readonly orgId: string; readonly userId: string; readonly times: readonly number[] },
): Promise<void> {
  await tx
    .deleteFrom("upstream_sign_in")
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
    .where("signed_in_at", "in", times)
    .execute();
}

/**
 * Keeps it, until the end of the transaction that starts its session, from being ended. The caller has locked the account.
 * @returns false when it has ended, or the identity is linked no more
 */
export async function holdUpstreamSignIn(
  tx: Db,
  { orgId, userId, signedInAt }: UpstreamSignInKey,
): Promise<boolean> {
  const query = tx
    .selectFrom("upstream_sign_in")
    .select(["connection_id", "subject"])
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId, signed_in_at: signedInAt }));
  const row = await (isPostgres(tx) ? query.forShare() : query).executeTakeFirst();
  if (!row) return false;
  return hasRow(
    tx
      .selectFrom("linked_identity")
      .select("subject")
      .where((eb) => allOf(eb, { org_id: orgId, connection_id: row.connection_id, subject: row.subject }))
      .where("user_id", "=", userId),
  );
}

/** RFC 8176 has no name for it; connections.md §4. */
export const FEDERATED = "fed";

const isFederated = sql<boolean>`amr like ${`%"${FEDERATED}"%`}`;

/** The ids of what the sign-ins of a user at these moments have led to, and has not ended. */
export async function findSessionsFrom(
  tx: Db,
  {
    orgId,
    userId,
    times,
  }: { readonly orgId: string; readonly userId: string; readonly times: readonly number[] },
): Promise<string[]> {
  const rows = await tx
    .selectFrom("browser_session")
    .select("id")
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
    .where("auth_time", "in", times)
    .where("ended_at", "is", null)
    .where(isFederated)
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

interface Revocation {
  readonly orgId: string;
  readonly userId: string;
  readonly times: readonly number[];
  readonly now: number;
  readonly reason: string;
}

/** Refresh tokens, those of `offline_access` too, and with them their access tokens. */
export async function revokeFamiliesFrom(
  tx: Db,
  { orgId, userId, times, now, reason }: Revocation,
): Promise<void> {
  const all = tx
    .selectFrom("token_family")
    .select("id")
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
    .where("auth_time", "in", times)
    .where("revoked_at", "is", null)
    .where(isFederated);
  await tx
    .updateTable("token_family")
    .set({ revoked_at: now, revoked_reason: reason })
    .where("org_id", "=", orgId)
    .where("id", "in", lockedInOrder(tx, all, "id"))
    .execute();
}

/** Those that are permanent too. */
export async function revokeKeysFrom(
  tx: Db,
  { orgId, userId, times, now, reason }: Revocation,
): Promise<void> {
  // Repeated while it finds keys: see revokeSessionKeys.
  for (let revoked = 1; revoked > 0; ) {
    const all = tx
      .selectFrom("session_key")
      .select("id")
      .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
      .where("auth_time", "in", times)
      .where("revoked_at", "is", null)
      .where(isFederated);
    const result = await tx
      .updateTable("session_key")
      .set((eb) => ({
        revoked_at: now,
        revoked_reason: reason,
        expires_at: eb.fn.coalesce("expires_at", sql<number>`cast(${now} as bigint)`),
      }))
      .where("org_id", "=", orgId)
      .where("id", "in", lockedInOrder(tx, all, "id"))
      .executeTakeFirst();
    revoked = Number(result.numUpdatedRows);
  }
}
