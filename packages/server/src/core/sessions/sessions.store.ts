/** Stores browser sessions and the applications that used them. */

import type { SelectQueryBuilder } from "kysely";
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import { lockedInOrder } from "../../db/row-locks.ts";
import type { Schema } from "../../db/schema.ts";
import type { Session } from "./session.ts";

export async function insertSession(
  db: Db,
  session: Session & { tokenHash: string; address: string; userAgent: string },
): Promise<void> {
  await db
    .insertInto("browser_session")
    .values({ ...toRow(session), amr: JSON.stringify(session.amr), ended_at: null })
    .execute();
}

const columns = [
  ...(["org_id", "id", "user_id", "auth_time", "amr", "acr"] as const),
  ...(["created_at", "last_seen_at", "expires_at"] as const),
  ...(["device_id", "bound_key", "bound_at"] as const),
];

const fromRow = <Row extends { readonly amr: string }>({ amr, ...row }: Row) => ({
  ...toRecord(row),
  amr: JSON.parse(amr) as string[],
});

/** Unless it has ended or expired; the caller checks the idle timeout. */
export async function findSession(
  db: Db,
  orgId: string,
  tokenHash: string,
  now: number,
): Promise<Session | undefined> {
  const row = await db
    .selectFrom("browser_session")
    .select(columns)
    .where((eb) => allOf(eb, { org_id: orgId, token_hash: tokenHash }))
    .where("ended_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Unless it has ended or expired; the caller checks the idle timeout. */
export async function findLiveSession(
  db: Db,
  { orgId, id, now }: { orgId: string; id: string; now: number },
): Promise<Session | undefined> {
  const row = await db
    .selectFrom("browser_session")
    .select(columns)
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .where("ended_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Active, expired or ended; undefined once housekeeping has removed it. */
export async function findSessionById(db: Db, orgId: string, id: string): Promise<Session | undefined> {
  const row = await db
    .selectFrom("browser_session")
    .select(columns)
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Continues the session under a new cookie after another sign-in. @returns false when it has ended */
export const renewSession = (
  db: Db,
  session: Omit<Session, "createdAt"> & { tokenHash: string },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("browser_session")
      .set({
        token_hash: session.tokenHash,
        auth_time: session.authTime,
        amr: JSON.stringify(session.amr),
        acr: session.acr,
        last_seen_at: session.lastSeenAt,
        expires_at: session.expiresAt,
        ...(session.deviceId ? { device_id: session.deviceId } : {}),
      })
      .where((eb) => allOf(eb, { org_id: session.orgId, id: session.id, user_id: session.userId }))
      .where("ended_at", "is", null),
  );

export async function touchSession(db: Db, key: { orgId: string; id: string }, now: number): Promise<void> {
  await db
    .updateTable("browser_session")
    .set({ last_seen_at: now })
    .where((eb) => allOf(eb, { org_id: key.orgId, id: key.id }))
    .where("last_seen_at", "<", now)
    .execute();
}

/** @returns false when it has ended, or is bound to a key already: the first one stays */
export const bindSession = (
  tx: Db,
  { orgId, id, boundKey, now }: { orgId: string; id: string; boundKey: string; now: number },
): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("browser_session")
      .set({ bound_key: boundKey, bound_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, id }))
      .where("bound_key", "is", null)
      .where("ended_at", "is", null)
      .where("expires_at", ">", now),
  );

/** @returns false when it has ended, or belongs to a device already */
export const setSessionDevice = (
  tx: Db,
  { orgId, id, deviceId }: { orgId: string; id: string; deviceId: string },
): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("browser_session")
      .set({ device_id: deviceId })
      .where((eb) => allOf(eb, { org_id: orgId, id }))
      .where("device_id", "is", null)
      .where("ended_at", "is", null),
  );

/**
 * Ends one session of a user, or all in the organisation. Only end-sessions.ts calls it, which revokes the tokens too.
 * @returns the ids of those that had not ended before
 */
export async function markSessionsEnded(
  db: Db,
  which: { orgId: string; userId: string; sessionId?: string; now: number },
): Promise<string[]> {
  let query = db
    .updateTable("browser_session")
    .set({ ended_at: which.now })
    .where((eb) => allOf(eb, { org_id: which.orgId, user_id: which.userId }))
    .where("ended_at", "is", null);
  if (which.sessionId !== undefined) query = query.where("id", "=", which.sessionId);
  return (await query.returning("id").execute()).map(({ id }) => id);
}

/** As `markSessionsEnded`, of those that are named. @returns those that had not ended before */
export async function markGivenSessionsEnded(
  tx: Db,
  { orgId, ids, now }: { orgId: string; ids: readonly string[]; now: number },
): Promise<Array<{ id: string; userId: string }>> {
  const active = tx
    .selectFrom("browser_session")
    .select("id")
    .where("org_id", "=", orgId)
    .where("id", "in", ids)
    .where("ended_at", "is", null);
  return markLockedEnded(tx, { orgId, now }, active);
}

/** As `markSessionsEnded`, of those that began on the device. */
export async function markDeviceSessionsEnded(
  tx: Db,
  { orgId, deviceId, now }: { orgId: string; deviceId: string; now: number },
): Promise<Array<{ id: string; userId: string }>> {
  const active = tx
    .selectFrom("browser_session")
    .select("id")
    .where("org_id", "=", orgId)
    .where("device_id", "=", deviceId)
    .where("ended_at", "is", null);
  return markLockedEnded(tx, { orgId, now }, active);
}

async function markLockedEnded(
  tx: Db,
  { orgId, now }: { orgId: string; now: number },
  active: SelectQueryBuilder<Schema, "browser_session", { id: string }>,
): Promise<Array<{ id: string; userId: string }>> {
  const rows = await tx
    .updateTable("browser_session")
    .set({ ended_at: now })
    .where("org_id", "=", orgId)
    .where("ended_at", "is", null)
    .where("id", "in", lockedInOrder(tx, active, "id"))
    .returning(["id", "user_id"])
    .execute();
  return rows.map((row) => toRecord(row));
}

type SessionUse = { orgId: string; sessionId: string; applicationId: string; now: number };

const insertUse = prepared((db, value: Parameter<SessionUse>) =>
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

/** The application received tokens: it is notified when the session ends. */
export async function recordSessionUse(db: Db, use: SessionUse): Promise<void> {
  await insertUse(db, use);
}

export interface SessionRecord extends Session {
  readonly address: string;
  readonly userAgent: string;
  /** The names of the applications that received tokens. */
  readonly applications: readonly string[];
}

const MAX_LISTED = 100;

/** The user's active sessions, last used first. */
export async function findUserSessions(
  db: Db,
  of: { orgId: string; userId: string; now: number; seenSince: number },
): Promise<SessionRecord[]> {
  const rows = await db
    .selectFrom("browser_session")
    .select([...columns, "address", "user_agent"])
    .where((eb) => allOf(eb, { org_id: of.orgId, user_id: of.userId }))
    .where("ended_at", "is", null)
    .where("expires_at", ">", of.now)
    .where("last_seen_at", ">", of.seenSince)
    .orderBy("last_seen_at", "desc")
    .orderBy("id")
    .limit(MAX_LISTED)
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
    applications: uses.filter(({ session_id }) => session_id === row.id).map(({ name }) => name),
  }));
}

export const isEndedSession = (db: Db, of: { orgId: string; userId: string; id: string }): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("browser_session")
      .select("id")
      .where((eb) => allOf(eb, { org_id: of.orgId, id: of.id, user_id: of.userId }))
      .where("ended_at", "is not", null),
  );

/** The `User-Agent` header by session id. */
export async function findSessionBrowsers(
  db: Db,
  of: { orgId: string; userId: string; ids: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  if (of.ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("browser_session")
    .select(["id", "user_agent"])
    .where((eb) => allOf(eb, { org_id: of.orgId, user_id: of.userId }))
    .where("id", "in", of.ids)
    .execute();
  return new Map(rows.map(({ id, user_agent }) => [id, user_agent]));
}
