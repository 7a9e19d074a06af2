/** What each kind of target does for itself: which events it takes, in which form, and how they are sent. */
import type { RecordOf } from "../../db/records.ts";
import type { EventDeliveryTable, EventTargetTable } from "../../db/tables/events.ts";
import type { StoredEvent } from "../audit/audit.store.ts";

export const deliveryStates = ["pending", "delivered", "dead"] as const;

export interface EventDelivery extends Omit<RecordOf<EventDeliveryTable>, "state"> {
  readonly state: (typeof deliveryStates)[number];
}

export type EventTarget = RecordOf<EventTargetTable>;

export interface TargetKey {
  readonly orgId: string;
  readonly id: string;
}

/** What is sent of an event. */
export interface Message {
  /** The event's. */
  readonly id: string;
  readonly type: string;
  /** Milliseconds. */
  readonly at: number;
  readonly body: string;
}

export interface AttemptOutcome {
  /** Of the answer; null when there was none. */
  readonly status: number | null;
  /** Undefined when it was delivered. */
  readonly error?: string;
  /** Another attempt would fail too. */
  readonly isFinal?: boolean;
}

export interface TargetKind {
  /** Those of the events that the target asked for, in their order. */
  select(target: TargetKey, events: readonly StoredEvent[]): Promise<readonly Message[]>;
  attempt(delivery: EventDelivery): Promise<AttemptOutcome>;
}

export type TargetKinds = Readonly<Record<string, TargetKind>>;
