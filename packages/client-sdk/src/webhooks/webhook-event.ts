/** What a webhook is sent (connections.md §8). */

/** An event of an organisation. */
export interface WebhookEvent {
  /** The event's id, the same in every try: keep it for a day to drop doubles. */
  readonly id: string;
  /** The audit action, e.g. `user.disabled`; `webhook.test` of a test. */
  readonly type: string;
  /** When the event happened (RFC 3339). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: WebhookEventData;
}

/** What happened, to what, and who did it. */
export interface WebhookEventData {
  /** The organisation's id. */
  readonly organisation: string;
  /** `user:<id>`, `client:<id>`, `system-account:<id>`, `connection:<id>`, `operator`, `system` or `anonymous`. */
  readonly actor: string;
  /** The id of the record; null when there is none. */
  readonly target: string | null;
  /** What else the audit log says of it. */
  readonly details: Readonly<Record<string, unknown>>;
}
