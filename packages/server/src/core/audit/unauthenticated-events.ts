/**
 * Events that anybody can cause, in any number, before they have proven anything: bounded, so that nobody fills the disk or
 * buries what matters. Counted in the database, for all nodes together.
 */

import { sha256Base64url } from "@signet/protocol/hash";
import type { Database } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import { consumeOnce } from "../consumed-values.store.ts";
import { countHit } from "../rate-limits/rate-limits.store.ts";
import { type AuditEvent, recordAuditEvent } from "./audit.store.ts";

export interface StrangersDeps {
  readonly database: Database;
  readonly clock: Clock;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** In an hour, of each action. */
const MOST_ON_ONE = 60;
const MOST_ON_NOTHING = 600;

/**
 * Writes the event while there are not too many of its action within the hour: 60 on one target, 600 on none. The first
 * one beyond is written as `audit.events-withheld`, the others not at all.
 */
export async function recordStrangersEvent(
  { database, clock }: StrangersDeps,
  event: Omit<AuditEvent, "at">,
): Promise<void> {
  const { orgId, action, target } = event;
  const most = target === undefined ? MOST_ON_NOTHING : MOST_ON_ONE;
  const at = clock();
  const bucket = `audit:${sha256Base64url(`${action}|${target ?? ""}`)}`;
  const { hits, windowStartedAt } = await countHit(database.query, {
    orgId,
    bucket,
    now: at,
    windowMs: HOUR_MS,
  });
  if (hits <= most) return recordAuditEvent(database.query, { ...event, at });
  if (hits > most + 1) return;
  await recordAuditEvent(database.query, {
    orgId,
    at,
    actor: "system",
    action: "audit.events-withheld",
    ...(target === undefined ? {} : { target }),
    details: { action, until: new Date(windowStartedAt + HOUR_MS).toISOString() },
  });
}

/**
 * Writes the event once in a while, however often it happens.
 * @param once.subject what is the same: whom it is about, and why
 * @param eventOf asked for only when it is written
 */
export async function recordOnce(
  { database, clock }: StrangersDeps,
  once: { readonly orgId: string; readonly subject: string; readonly everyMs?: number },
  eventOf: () => Promise<Omit<AuditEvent, "at" | "orgId">> | Omit<AuditEvent, "at" | "orgId">,
): Promise<void> {
  const { orgId, subject, everyMs = MINUTE_MS } = once;
  const at = clock();
  const isFirst = await consumeOnce(database.query, {
    orgId,
    kind: "refusal-audited",
    value: `${subject}|${Math.floor(at / everyMs)}`,
    expiresAt: at + 2 * everyMs,
  });
  if (isFirst) await recordAuditEvent(database.query, { ...(await eventOf()), orgId, at });
}
