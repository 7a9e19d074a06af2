/** A webhook: where an organisation's events are sent, which of them, and how they are signed (Standard Webhooks). */
import type { RecordOf } from "../../db/records.ts";
import type { WebhookTable } from "../../db/tables/events.ts";
import { auditActions, isAuditAction } from "../audit/actions.ts";

export interface Webhook extends Omit<RecordOf<WebhookTable>, "enabled" | "events"> {
  readonly enabled: boolean;
  readonly events: readonly string[];
}

export interface WebhookKey {
  readonly orgId: string;
  readonly id: string;
}

/** The kind of its target. */
export const WEBHOOK = "webhook";

export const MAX_WEBHOOKS = 50;
export const MAX_URL_LENGTH = 2_048;
export const MAX_EVENTS = 200;
/** Seven days. */
export const MAX_OVERLAP_SECONDS = 7 * 86_400;
export const DEFAULT_OVERLAP_SECONDS = 86_400;
/** Of one replay. */
export const MAX_REPLAYED = 10_000;

const messages = {
  "invalid-url": "must be an https URL without credentials and fragment",
  "unknown-event": "must be an audit action, all of a noun (user.*) or *",
  "no-events": "must name an event",
  "too-many-patterns": `must name at most ${MAX_EVENTS} events`,
  "too-many-webhooks": `an organisation has at most ${MAX_WEBHOOKS} webhooks`,
  "too-many-events": `are more than ${MAX_REPLAYED} events: choose a shorter time`,
  disabled: "the webhook is disabled",
} as const;

export class InvalidWebhook extends Error {
  override readonly name = "InvalidWebhook";
  readonly code: keyof typeof messages;
  readonly path: string;
  constructor(code: keyof typeof messages, path = "") {
    super(messages[code]);
    this.code = code;
    this.path = path;
  }
}

const nouns = new Set(auditActions.map((action) => action.slice(0, action.indexOf("."))));

export const isEventPattern = (text: string): boolean =>
  text === "*" || isAuditAction(text) || (text.endsWith(".*") && nouns.has(text.slice(0, -2)));

/** Whether an event was asked for. @param patterns checked by `isEventPattern` */
export const matchesEvent = (patterns: readonly string[], action: string): boolean =>
  patterns.some(
    (pattern) =>
      pattern === "*" ||
      pattern === action ||
      (pattern.endsWith(".*") && action.startsWith(pattern.slice(0, -1))),
  );
