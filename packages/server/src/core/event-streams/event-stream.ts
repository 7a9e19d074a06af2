/** A stream of security events to one client (Shared Signals Framework 1.0 §8.1.1). */
import type { RecordOf } from "../../db/records.ts";
import type { EventStreamTable } from "../../db/tables/events.ts";
import type { Application } from "../applications/application.ts";
import { signalScopes } from "../scopes/scopes.ts";

export const streamStatuses = ["enabled", "paused", "disabled"] as const;
export type StreamStatus = (typeof streamStatuses)[number];

export const PUSH = "urn:ietf:rfc:8935";
export const POLL = "urn:ietf:rfc:8936";
export const deliveryMethods = [PUSH, POLL] as const;

export interface EventStream
  extends Omit<RecordOf<EventStreamTable>, "status" | "method" | "eventsRequested"> {
  readonly status: StreamStatus;
  readonly method: (typeof deliveryMethods)[number];
  readonly eventsRequested: readonly string[];
}

export interface StreamKey {
  readonly orgId: string;
  readonly id: string;
}

/** The kinds of its target. */
export const PUSHED = "ssf-push";
export const POLLED = "ssf-poll";

/** Of one client. */
export const MAX_STREAMS = 5;
/** Of one stream: beyond, no more are left out. */
export const MAX_REMOVED_SUBJECTS = 10_000;
/** Seconds between two verification events. */
export const MIN_VERIFICATION_SECONDS = 1;

/** What it had when the stream was made may have been taken from it since: then it hears nothing, as it could fetch nothing. */
export const mayHear = ({
  settings: { allowedScopes, grantTypes, signingPoolId },
}: Pick<Application, "settings">): boolean =>
  signingPoolId === undefined &&
  grantTypes.includes("client_credentials") &&
  signalScopes.some((scope) => allowedScopes.includes(scope));

export const kindOf = ({ method }: Pick<EventStream, "method">): string =>
  method === PUSH ? PUSHED : POLLED;

/** Whether events are queued and pushed: a paused stream holds them, a disabled one does not. */
export const flowOf = ({ status, method }: Pick<EventStream, "status" | "method">) => ({
  isFed: status !== "disabled",
  isSent: status === "enabled" && method === PUSH,
});
