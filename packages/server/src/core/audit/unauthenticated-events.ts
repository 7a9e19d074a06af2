/**
 * Audit events that unauthenticated requests can cause in any number: rate-limited, so that nobody can fill the disk
 * or bury other events. Counted in the database, for all nodes together.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { consumeOnce } from "../consumed-values.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { countHit } from "../rate-limits/rate-limits.store.ts";
import { type AuditEvent, recordAuditEvent } from "./audit.store.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Per hour and action. */
const MAX_PER_TARGET = 60;
const MAX_WITHOUT_TARGET = 600;

/**
 * Records the event unless its action exceeds its hourly limit: 60 per target, 600 without one. The first event
 * beyond the limit is recorded as `audit.events-withheld`, the others are dropped.
 */
export async function recordUnauthenticatedEvent(
  { database, clock }: CoreDeps,
  event: Omit<AuditEvent, "at">,
): Promise<void> {
  const { orgId, action, target } = event;
  const max = target === undefined ? MAX_WITHOUT_TARGET : MAX_PER_TARGET;
  const at = clock();
  const bucket = `audit:${sha256Base64url(`${action}|${target ?? ""}`)}`;
  const hit = { orgId, bucket, now: at, windowMs: HOUR_MS };
  const { hits, windowStartedAt } = await countHit(database.query, hit);
  if (hits <= max) return recordAuditEvent(database.query, { ...event, at });
  if (hits > max + 1) return;
  const details = { action, until: new Date(windowStartedAt + HOUR_MS).toISOString() };
  const withheld = { orgId, at, actor: "system", action: "audit.events-withheld", target } as const;
  await recordAuditEvent(database.query, { ...withheld, details });
}

/**
 * Records the event once per interval.
 * @param once.subject what makes events the same: whom they concern, and why
 * @param eventOf called only when the event is recorded
 */
export async function recordOnce(
  { database, clock }: CoreDeps,
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
