/** Back-channel logouts in the outbox: one row for each application of an ended session. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { type RecordOf, toRecord } from "../../db/records.ts";
import type { LogoutDeliveryTable } from "../../db/tables/messages.ts";
import type { ApplicationSettings } from "../applications/application.ts";
import type { OutboxTable } from "../outbox/outbox.store.ts";

/** Of one application only a few logouts at a time: one that does not respond does not hold up the others. */
export const logoutDeliveries: OutboxTable<"logout_delivery"> = {
  name: "logout_delivery",
  deliveredAt: "delivered_at",
  queueBy: "application_id",
  erased: {},
};

/** A logout on its way to one application. */
export type LogoutDelivery = RecordOf<LogoutDeliveryTable>;

export interface EndedSession {
  readonly id: string;
  readonly userId: string;
}

const CHUNK = 500;

/**
 * One delivery for each application that got tokens from one of the sessions and has a back-channel logout URI.
 * @param db the transaction that ends the sessions, so that no sign-out goes without its messages
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
    const sessionApplications = await applicationsToNotify(db, orgId, ids.slice(start, start + CHUNK));
    const rows = sessionApplications.map(({ sessionId, applicationId }) => ({
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

async function applicationsToNotify(
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

export const logoutDelivery = (row: LogoutDeliveryTable): LogoutDelivery => toRecord(row);
