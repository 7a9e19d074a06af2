import { newUuid } from "@signet/protocol/uuid";
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { LogoutDeliveryTable } from "../../db/tables/messages.ts";
import type { ApplicationSettings } from "../applications/application.ts";

/** A logout on its way to one application. */
export interface LogoutDelivery {
  readonly orgId: string;
  readonly id: string;
  readonly applicationId: string;
  readonly userId: string;
  readonly sessionId: string;
  /** How often it was tried, the try under way included. */
  readonly attempts: number;
}

export interface EndedSession {
  readonly id: string;
  readonly userId: string;
}

const CHUNK = 500;

/**
 * One delivery for each application that got tokens from one of the sessions and wants to hear of its end.
 * Called in the transaction that ends them: a sign-out without its messages does not exist.
 */
export async function insertLogoutDeliveries(
  db: Db,
  orgId: string,
  sessions: readonly EndedSession[],
  now: number,
): Promise<void> {
  const userOf = new Map(sessions.map(({ id, userId }) => [id, userId]));
  const ids = [...userOf.keys()];
  for (let start = 0; start < ids.length; start += CHUNK) {
    const told = await applicationsToTell(db, orgId, ids.slice(start, start + CHUNK));
    const rows = told.map(({ sessionId, applicationId }) => ({
      org_id: orgId,
      id: newUuid(),
      application_id: applicationId,
      user_id: userOf.get(sessionId) ?? "",
      session_id: sessionId,
      attempts: 0,
      next_attempt_at: now,
      created_at: now,
      delivered_at: null,
      failed_at: null,
      last_error: null,
    }));
    for (let from = 0; from < rows.length; from += CHUNK)
      await db
        .insertInto("logout_delivery")
        .values(rows.slice(from, from + CHUNK))
        .execute();
  }
}

async function applicationsToTell(
  db: Db,
  orgId: string,
  sessionIds: readonly string[],
): Promise<Array<{ sessionId: string; applicationId: string }>> {
  const rows = await db
    .selectFrom("session_application")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "session_application.org_id")
        .onRef("application.id", "=", "session_application.application_id"),
    )
    .select(["session_application.session_id", "application.id", "application.settings"])
    .where("session_application.org_id", "=", orgId)
    .where("session_application.session_id", "in", sessionIds)
    .where("application.disabled_at", "is", null)
    .execute();
  return rows
    .filter(
      ({ settings }) =>
        (JSON.parse(settings) as Partial<ApplicationSettings>).backchannelLogoutUri !== undefined,
    )
    .map(({ session_id, id }) => ({ sessionId: session_id, applicationId: id }));
}

/**
 * What is due, the longest waiting first. Of one application only a few: one that does not answer must not hold up the
 * others' messages.
 */
export async function findDueLogouts(
  db: Db,
  now: number,
  limits: { all: number; each: number },
): Promise<LogoutDelivery[]> {
  const rows = await db
    .selectFrom((inner) =>
      inner
        .selectFrom("logout_delivery")
        .selectAll()
        .select(
          sql<number>`row_number() over (partition by org_id, application_id order by next_attempt_at, id)`.as(
            "place",
          ),
        )
        .where("next_attempt_at", "<=", now)
        .where("delivered_at", "is", null)
        .where("failed_at", "is", null)
        .as("due"),
    )
    .selectAll()
    .where("place", "<=", limits.each)
    .orderBy("next_attempt_at")
    .limit(limits.all)
    .execute();
  return rows.map(fromRow);
}

/**
 * Takes a due delivery for one try: whichever node is first has it until `until`, and if that node dies it is due again
 * then. @returns undefined when another node was faster
 */
export async function claimLogout(
  db: Db,
  { orgId, id, attempts }: LogoutDelivery,
  times: { now: number; until: number },
): Promise<LogoutDelivery | undefined> {
  const row = await db
    .updateTable("logout_delivery")
    .set({ attempts: attempts + 1, next_attempt_at: times.until })
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .where("attempts", "=", attempts)
    .where("next_attempt_at", "<=", times.now)
    .where("delivered_at", "is", null)
    .where("failed_at", "is", null)
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

export type LogoutOutcome =
  | { readonly deliveredAt: number }
  | { readonly nextAttemptAt: number; readonly error: string }
  | { readonly failedAt: number; readonly error: string };

/** How a try ended; without effect when another node has taken the delivery meanwhile. */
export async function recordLogoutOutcome(
  db: Db,
  { orgId, id, attempts }: LogoutDelivery,
  outcome: LogoutOutcome,
): Promise<void> {
  const change =
    "deliveredAt" in outcome
      ? { delivered_at: outcome.deliveredAt, last_error: null }
      : "failedAt" in outcome
        ? { failed_at: outcome.failedAt, last_error: outcome.error }
        : { next_attempt_at: outcome.nextAttemptAt, last_error: outcome.error };
  await db
    .updateTable("logout_delivery")
    .set(change)
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .where("attempts", "=", attempts)
    .execute();
}

/** @returns how many were removed, at most `limit` */
export async function deleteOldLogouts(db: Db, before: number, limit: number): Promise<number> {
  const old = await db
    .selectFrom("logout_delivery")
    .select(["org_id", "id"])
    .where("created_at", "<", before)
    .orderBy("created_at")
    .limit(limit)
    .execute();
  for (const { org_id, id } of old) {
    await db.deleteFrom("logout_delivery").where("org_id", "=", org_id).where("id", "=", id).execute();
  }
  return old.length;
}

function fromRow(row: LogoutDeliveryTable): LogoutDelivery {
  return {
    orgId: row.org_id,
    id: row.id,
    applicationId: row.application_id,
    userId: row.user_id,
    sessionId: row.session_id,
    attempts: row.attempts,
  };
}
