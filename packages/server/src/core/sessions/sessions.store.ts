import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { BrowserSessionTable } from "../../db/tables/users.ts";
import type { Session } from "./session.ts";

export async function insertSession(
  db: Db,
  session: Session & { tokenHash: string; address: string; userAgent: string },
): Promise<void> {
  await db
    .insertInto("browser_session")
    .values({
      org_id: session.orgId,
      id: session.id,
      token_hash: session.tokenHash,
      user_id: session.userId,
      auth_time: session.authTime,
      amr: JSON.stringify(session.amr),
      acr: session.acr,
      address: session.address,
      user_agent: session.userAgent,
      created_at: session.createdAt,
      last_seen_at: session.lastSeenAt,
      expires_at: session.expiresAt,
      ended_at: null,
    })
    .execute();
}

/** The living session that the cookie's hash names. Idle time is the caller's rule. */
export async function findSession(
  db: Db,
  orgId: string,
  tokenHash: string,
  now: number,
): Promise<Session | undefined> {
  const row = await db
    .selectFrom("browser_session")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("token_hash", "=", tokenHash)
    .where("ended_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Living, run out or ended; undefined when it was never there, or housekeeping has removed it. */
export async function findSessionById(db: Db, orgId: string, id: string): Promise<Session | undefined> {
  const row = await db
    .selectFrom("browser_session")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** The same user signed in again: the session goes on under a new cookie. @returns false when it has ended meanwhile */
export async function renewSession(
  db: Db,
  session: Omit<Session, "createdAt"> & { tokenHash: string },
): Promise<boolean> {
  const result = await db
    .updateTable("browser_session")
    .set({
      token_hash: session.tokenHash,
      auth_time: session.authTime,
      amr: JSON.stringify(session.amr),
      acr: session.acr,
      last_seen_at: session.lastSeenAt,
      expires_at: session.expiresAt,
    })
    .where("org_id", "=", session.orgId)
    .where("id", "=", session.id)
    .where("user_id", "=", session.userId)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function touchSession(db: Db, key: { orgId: string; id: string }, now: number): Promise<void> {
  await db
    .updateTable("browser_session")
    .set({ last_seen_at: now })
    .where("org_id", "=", key.orgId)
    .where("id", "=", key.id)
    .where("last_seen_at", "<", now)
    .execute();
}

/**
 * Ends one session of a user, or all of them in the organisation. Called by end-sessions.ts alone, which does what
 * belongs to it. @returns the ids of those that had not ended before
 */
export async function markSessionsEnded(
  db: Db,
  which: { orgId: string; userId: string; sessionId?: string; now: number },
): Promise<string[]> {
  let query = db
    .updateTable("browser_session")
    .set({ ended_at: which.now })
    .where("org_id", "=", which.orgId)
    .where("user_id", "=", which.userId)
    .where("ended_at", "is", null);
  if (which.sessionId !== undefined) query = query.where("id", "=", which.sessionId);
  return (await query.returning("id").execute()).map(({ id }) => id);
}

type SessionUse = { orgId: string; sessionId: string; applicationId: string; now: number };

const noteUse = prepared((db, value: Parameter<SessionUse>) =>
  db
    .insertInto("session_application")
    .values({
      org_id: value("orgId"),
      session_id: value("sessionId"),
      application_id: value("applicationId"),
      first_used_at: value("now"),
    })
    .onConflict((conflict) => conflict.columns(["org_id", "session_id", "application_id"]).doNothing()),
);

/** The application got tokens from the session: its end will concern it. */
export async function noteSessionUse(db: Db, use: SessionUse): Promise<void> {
  await noteUse(db, use);
}

/** A session with what tells its user which one it is. */
export interface SessionRecord extends Session {
  readonly address: string;
  readonly userAgent: string;
  /** Names of the applications that got tokens from it. */
  readonly applications: readonly string[];
}

const MOST_SHOWN = 100;

/** The user's living sessions, the one used last first. */
export async function findUserSessions(
  db: Db,
  of: { orgId: string; userId: string; now: number; seenSince: number },
): Promise<SessionRecord[]> {
  const rows = await db
    .selectFrom("browser_session")
    .selectAll()
    .where("org_id", "=", of.orgId)
    .where("user_id", "=", of.userId)
    .where("ended_at", "is", null)
    .where("expires_at", ">", of.now)
    .where("last_seen_at", ">", of.seenSince)
    .orderBy("last_seen_at", "desc")
    .orderBy("id")
    .limit(MOST_SHOWN)
    .execute();
  if (rows.length === 0) return [];
  const uses = await db
    .selectFrom("session_application")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "session_application.org_id")
        .onRef("application.id", "=", "session_application.application_id"),
    )
    .select(["session_application.session_id", "application.name"])
    .where("session_application.org_id", "=", of.orgId)
    .where(
      "session_application.session_id",
      "in",
      rows.map(({ id }) => id),
    )
    .orderBy("session_application.first_used_at")
    .orderBy("application.id")
    .execute();
  return rows.map((row) => ({
    ...fromRow(row),
    address: row.address,
    userAgent: row.user_agent,
    applications: uses.filter(({ session_id }) => session_id === row.id).map(({ name }) => name),
  }));
}

/** Whether the user had such a session, and has signed out of it or was signed out. */
export async function isEndedSession(
  db: Db,
  of: { orgId: string; userId: string; id: string },
): Promise<boolean> {
  const row = await db
    .selectFrom("browser_session")
    .select("id")
    .where("org_id", "=", of.orgId)
    .where("id", "=", of.id)
    .where("user_id", "=", of.userId)
    .where("ended_at", "is not", null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Sessions that nobody can come back to. @returns how many were removed, at most `limit` */
export async function deleteDeadSessions(db: Db, before: number, limit: number): Promise<number> {
  const dead = await db
    .selectFrom("browser_session")
    .select(["org_id", "id"])
    .where("expires_at", "<", before)
    .orderBy("expires_at")
    .limit(limit)
    .execute();
  for (const { org_id, id } of dead) {
    await db.deleteFrom("browser_session").where("org_id", "=", org_id).where("id", "=", id).execute();
  }
  return dead.length;
}

function fromRow(row: BrowserSessionTable): Session {
  return {
    orgId: row.org_id,
    id: row.id,
    userId: row.user_id,
    authTime: row.auth_time,
    amr: JSON.parse(row.amr) as string[],
    acr: row.acr,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: row.expires_at,
  };
}

/** Which browsers some of a user's sessions are of, by the session's id: the `User-Agent` header as it came. */
export async function findSessionBrowsers(
  db: Db,
  of: { orgId: string; userId: string; ids: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  if (of.ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("browser_session")
    .select(["id", "user_agent"])
    .where("org_id", "=", of.orgId)
    .where("user_id", "=", of.userId)
    .where("id", "in", of.ids)
    .execute();
  return new Map(rows.map(({ id, user_agent }) => [id, user_agent]));
}
