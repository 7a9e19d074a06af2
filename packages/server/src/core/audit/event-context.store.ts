/** Stores what events mention, and the email addresses typed at failed sign-ins. */
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type EventContext, type Mention, TYPED_EMAIL_KEPT_MS, type TypedEmail } from "./event-context.ts";

interface EventKey {
  readonly orgId: string;
  readonly eventId: string;
  /** The event's, milliseconds. */
  readonly at: number;
}

export async function insertMentions(
  db: Db,
  events: ReadonlyArray<{ readonly key: EventKey; readonly mentions: readonly Mention[] }>,
): Promise<void> {
  const rows = events.flatMap(({ key: { orgId, eventId, at }, mentions }) =>
    mentions.map(({ kind, value }) => ({ org_id: orgId, event_id: eventId, kind, value, at })),
  );
  if (rows.length > 0) await db.insertInto("audit_mention").values(rows).execute();
}

export async function insertTypedEmail(
  db: Db,
  { orgId, eventId, at }: EventKey,
  { email, salt }: TypedEmail,
): Promise<void> {
  const expiresAt = email === "" ? at : at + TYPED_EMAIL_KEPT_MS;
  const row = { org_id: orgId, event_id: eventId, email, salt, at, expires_at: expiresAt };
  await db.insertInto("audit_typed_email").values(row).execute();
}

/** One query for a batch, and none for events where nothing was typed. */
export async function withTypedEmails<Event extends { readonly id: string; readonly context?: EventContext }>(
  db: Db,
  orgId: string,
  events: readonly Event[],
): Promise<Array<Event & { readonly typedEmail?: string }>> {
  const ids = events.flatMap(({ id, context }) => (context?.emailHash === undefined ? [] : [id]));
  const emails = await findTypedEmails(db, orgId, ids);
  return events.map((event) => {
    const typedEmail = emails.get(event.id);
    return typedEmail === undefined ? event : { ...event, typedEmail };
  });
}

/** @returns by event; deleted and expired ones are missing */
async function findTypedEmails(
  db: Db,
  orgId: string,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (eventIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("audit_typed_email")
    .select(["event_id", "email"])
    .where("org_id", "=", orgId)
    .where("event_id", "in", eventIds)
    .where("email", "<>", "")
    .execute();
  return new Map(rows.map(({ event_id, email }) => [event_id, email]));
}

/** For an account that is deleted: its address may have been typed before the account was there. */
export async function deleteTypedEmails(
  db: Db,
  { orgId, email }: { readonly orgId: string; readonly email: string },
): Promise<void> {
  await db
    .deleteFrom("audit_typed_email")
    .where((eb) => allOf(eb, { org_id: orgId, email }))
    .execute();
}

export interface ContextRow {
  readonly eventId: string;
  readonly at: number;
}

/** The index rows of a stretch of the chain, for its verification. @param range positions: after one, up to another */
export async function readContextRows(
  db: Db,
  orgId: string,
  { after, until }: { readonly after: number; readonly until: number },
): Promise<{
  mentions: ReadonlyArray<ContextRow & { kind: string; value: string }>;
  emails: ReadonlyArray<ContextRow & TypedEmail>;
}> {
  const events = db
    .selectFrom("audit_event")
    .where("audit_event.org_id", "=", orgId)
    .where("seq", ">", after)
    .where("seq", "<=", until);
  const mentions = await events
    .innerJoin("audit_mention as found", (join) =>
      join.onRef("found.org_id", "=", "audit_event.org_id").onRef("found.event_id", "=", "audit_event.id"),
    )
    .select(["found.event_id as eventId", "found.at", "found.kind", "found.value"])
    .execute();
  const emails = await events
    .innerJoin("audit_typed_email as found", (join) =>
      join.onRef("found.org_id", "=", "audit_event.org_id").onRef("found.event_id", "=", "audit_event.id"),
    )
    .select(["found.event_id as eventId", "found.at", "found.email", "found.salt"])
    .execute();
  return { mentions, emails };
}
