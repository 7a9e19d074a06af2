/** What identity providers have said of the sign-ins by them. Session, tokens and keys find theirs by user and time of sign-in. */
import { type RawBuilder, sql } from "kysely";
import { hasRow } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import type { Db } from "../../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../../db/records.ts";
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

/** Its session has ended, and the provider has been told: it is a hint for nothing any more. */
export async function forgetLogoutHint(
  db: Db,
  { orgId, userId, signedInAt }: UpstreamSignInKey,
): Promise<void> {
  await db
    .updateTable("upstream_sign_in")
    .set({ id_token: null })
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId, signed_in_at: signedInAt }))
    .execute();
}

/** Of sessions that must have ended. @returns how many, at most `limit` */
export async function forgetOldLogoutHints(db: Db, now: number, limit: number): Promise<number> {
  const rows = await db
    .selectFrom("upstream_sign_in")
    .select(["org_id", "user_id", "signed_in_at"])
    .where("id_token", "is not", null)
    .where("id_token_until", "<=", now)
    .orderBy("id_token_until")
    .limit(limit)
    .execute();
  for (const row of rows) await forgetLogoutHint(db, toRecord(row));
  return rows.length;
}

/** Of a connection: of one user, of one session there, of one `sub` or NameID, or all. */
export interface FromConnection {
  readonly orgId: string;
  readonly connectionId: string;
  readonly userId?: string;
  readonly sid?: string;
  readonly subject?: string;
  /** Of SAML: see `nameIdHash`. */
  readonly nameIdHash?: string;
}

/** One sign-in of one user. */
export type SignInMoment = Pick<UpstreamSignIn, "userId" | "signedInAt">;

/**
 * Nothing that comes from them starts any more: a sign-in that is just starting its session is waited for.
 * @returns those that there were
 */
export async function takeUpstreamSignIns(
  tx: Db,
  { orgId, connectionId, userId, sid, subject, nameIdHash }: FromConnection,
): Promise<SignInMoment[]> {
  let query = tx
    .selectFrom("upstream_sign_in")
    .select(["user_id", "signed_in_at"])
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: connectionId }));
  if (userId !== undefined) query = query.where("user_id", "=", userId);
  if (sid !== undefined) query = query.where("sid", "=", sid);
  if (subject !== undefined) query = query.where("subject", "=", subject);
  if (nameIdHash !== undefined) query = query.where("name_id_hash", "=", nameIdHash);
  const ordered = query.orderBy("user_id").orderBy("signed_in_at");
  const rows = await tx
    .deleteFrom("upstream_sign_in")
    .where("org_id", "=", orgId)
    .where((eb) =>
      eb(
        eb.refTuple("user_id", "signed_in_at"),
        "in",
        (isPostgres(tx) ? ordered.forUpdate() : query).$asTuple("user_id", "signed_in_at"),
      ),
    )
    .returning(["user_id", "signed_in_at"])
    .execute();
  return rows.map((row) => toRecord(row));
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

/** As a table `moment` of one parameter, however many there are. */
function momentTable(tx: Db, moments: readonly SignInMoment[]): RawBuilder<unknown> {
  const json = JSON.stringify(moments.map(({ userId, signedInAt }) => ({ u: userId, t: signedInAt })));
  return isPostgres(tx)
    ? sql`json_to_recordset(cast(${json} as json)) as moment (u text, t bigint)`
    : sql`(select value ->> 'u' as u, value ->> 't' as t from json_each(${json})) as moment`;
}

/** Of an organisation, what came from sign-ins at these moments, and has not ended. */
function comingFrom(
  tx: Db,
  { orgId, moments }: { readonly orgId: string; readonly moments: readonly SignInMoment[] },
  table: "browser_session" | "token_family" | "session_key",
): RawBuilder<{ id: string }> {
  const end = sql.ref(table === "browser_session" ? "made.ended_at" : "made.revoked_at");
  // Each moment by the index of its user: `cross join` keeps SQLite to this order.
  return sql<{
    id: string;
  }>`select made.id from ${momentTable(tx, moments)} cross join ${sql.table(table)} as made
    where made.org_id = ${orgId} and made.user_id = moment.u and made.auth_time = moment.t
      and ${end} is null and made.amr like ${`%"${FEDERATED}"%`}
    order by made.id`;
}

interface Ended {
  readonly orgId: string;
  readonly moments: readonly SignInMoment[];
}

/** The ids of the sessions. */
export async function findSessionsFrom(tx: Db, ended: Ended): Promise<string[]> {
  const { rows } = await comingFrom(tx, ended, "browser_session").execute(tx);
  return rows.map(({ id }) => id);
}

interface Revocation extends Ended {
  readonly now: number;
  readonly reason: string;
}

/** Of PostgreSQL, in one order: see row-locks.ts. */
const locked = (tx: Db, rows: RawBuilder<unknown>) =>
  isPostgres(tx) ? sql`${rows} for update of made` : rows;

/** Refresh tokens, those of `offline_access` too, and with them their access tokens. */
export async function revokeFamiliesFrom(tx: Db, { now, reason, ...ended }: Revocation): Promise<void> {
  await sql`update token_family set revoked_at = ${now}, revoked_reason = ${reason}
    where org_id = ${ended.orgId} and revoked_at is null
      and id in (${locked(tx, comingFrom(tx, ended, "token_family"))})`.execute(tx);
}

/** Those that are permanent too. */
export async function revokeKeysFrom(tx: Db, { now, reason, ...ended }: Revocation): Promise<void> {
  // Repeated while it finds keys: see revokeSessionKeys.
  for (let revoked = 1; revoked > 0; ) {
    const result = await sql`update session_key set revoked_at = ${now}, revoked_reason = ${reason},
        expires_at = coalesce(expires_at, cast(${now} as bigint))
      where org_id = ${ended.orgId} and revoked_at is null
        and id in (${locked(tx, comingFrom(tx, ended, "session_key"))})`.execute(tx);
    revoked = Number(result.numAffectedRows ?? 0);
  }
}
