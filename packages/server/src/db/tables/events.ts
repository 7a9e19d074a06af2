/** Events that go out: to webhooks, and as security event tokens to receivers of shared signals. */

/** A receiver of an organisation's events (connections.md §8). */
export interface WebhookTable {
  org_id: string;
  id: string;
  url: string;
  /** JSON: audit actions, `user.*`, `*`. */
  events: string;
  enabled: number;
  /** `gone`: its receiver answered 410. */
  disabled_reason: string | null;
  /** Sealed. */
  secret: string;
  /** Sealed; signs beside the other one until `previous_until`. */
  previous_secret: string | null;
  previous_until: number | null;
  created_at: number;
  updated_at: number;
  version: number;
}

/** The queue of one target: how far it has taken the audit log, and who sends from it. */
export interface EventTargetTable {
  org_id: string;
  /** Of the webhook or stream. */
  id: string;
  kind: string;
  /** Whether new events are queued. */
  is_fed: number;
  /** Whether what is queued goes out. */
  is_sent: number;
  /** The last event of the audit chain that was looked at. */
  cursor_seq: number;
  /** Of the last delivery that was queued. */
  last_position: number;
  /** When the first delivery of the queue is tried; null when there is none. */
  due_at: number | null;
  claim: string | null;
  claimed_until: number;
}

export interface EventDeliveryTable {
  org_id: string;
  target_id: string;
  /** The event's. */
  id: string;
  position: number;
  type: string;
  /** When the event happened. */
  at: number;
  body: string;
  /** `pending`, `delivered` or `dead`. */
  state: string;
  attempts: number;
  next_attempt_at: number;
  last_attempt_at: number | null;
  last_status: number | null;
  last_error: string | null;
  settled_at: number | null;
  created_at: number;
  updated_at: number;
}

/** A client's stream of security events (SSF 1.0 §8.1.1). */
export interface EventStreamTable {
  org_id: string;
  id: string;
  client_id: string;
  /** `urn:ietf:rfc:8935` (push) or `urn:ietf:rfc:8936` (poll). */
  method: string;
  endpoint_url: string | null;
  /** Sealed. */
  authorization_header: string | null;
  /** JSON: event type URIs. */
  events_requested: string;
  description: string | null;
  /** `enabled`, `paused` or `disabled`. */
  status: string;
  status_reason: string | null;
  /** When a verification event was last asked for. */
  verified_at: number;
  created_at: number;
  updated_at: number;
}

/** A user of whom a stream tells nothing. */
export interface EventStreamRemovedTable {
  org_id: string;
  stream_id: string;
  user_id: string;
}

export interface EventsSchema {
  event_stream: EventStreamTable;
  event_stream_removed: EventStreamRemovedTable;
  webhook: WebhookTable;
  event_target: EventTargetTable;
  event_delivery: EventDeliveryTable;
}
