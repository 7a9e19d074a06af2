/** Which events a stream takes, and pushing them to its receiver (RFC 8935). */
import { mayUse } from "../application-access/application-access.ts";
import type { ApplicationDirectory } from "../applications/applications.ts";
import type { StoredEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { RETRY_DELAYS_MS } from "../event-deliveries/deliver.ts";
import type {
  AttemptOutcome,
  EventDelivery,
  Message,
  TargetKey,
  TargetKind,
} from "../event-deliveries/target-kind.ts";
import { deleteTarget } from "../event-deliveries/targets.store.ts";
import { issuerOf } from "../organisations/organisation.ts";
import { type Outbound, OutboundFailure } from "../outbound/outbound.ts";
import { openAuthorization } from "./authorization-header.ts";
import { type EventStream, kindOf, mayHear, POLLED, PUSHED } from "./event-stream.ts";
import { findRemoved, findStream } from "./event-streams.store.ts";
import { securityEventToken, type TokenDeps } from "./security-event-token.ts";
import { STREAM_UPDATED, securityEvent } from "./security-events.ts";
import { endNotice } from "./stream-status.ts";

export interface StreamTargetDeps extends CoreDeps, TokenDeps {
  readonly applications: Pick<ApplicationDirectory, "find">;
  readonly encryption: Encryption;
  readonly outbound: Outbound;
}

export const streamTargets = (deps: StreamTargetDeps): Readonly<Record<string, TargetKind>> => ({
  [PUSHED]: {
    select: (target, events) => select(deps, PUSHED, target, events),
    attempt: (one) => pushAsStatusAllows(deps, one),
  },
  [POLLED]: {
    select: (target, events) => select(deps, POLLED, target, events),
    // Never due: its receiver fetches.
    attempt: async () => ({ status: null, error: "the stream is polled" }),
  },
});

/** Of users that the client may be used by, without those that the receiver wants to hear nothing of. */
async function select(
  { database: { query }, applications, baseUrl }: StreamTargetDeps,
  kind: string,
  target: TargetKey,
  events: readonly StoredEvent[],
): Promise<readonly Message[]> {
  const found = events.flatMap((event) => {
    const security = securityEvent(event);
    return security ? [{ ...security, id: event.id, at: event.at }] : [];
  });
  if (found.length === 0) return [];
  const stream = await findStream(query, target);
  // Its client was deleted, and the stream with it.
  if (!stream) await deleteTarget(query, target);
  const client = stream && (await applications.find(target.orgId, stream.clientId));
  if (!client || !mayHear(client) || kindOf(stream) !== kind) return [];
  const wanted = found.filter(({ type }) => stream.eventsRequested.includes(type));
  const removed = await findRemoved(query, target, [...new Set(wanted.map(({ userId }) => userId))]);
  const messages: Message[] = [];
  for (const { userId, type, claims, id, at } of wanted) {
    if (removed.has(userId) || !(await mayUse(query, client, userId))) continue;
    const sub_id = { format: "iss_sub", iss: issuerOf(baseUrl, target.orgId), sub: userId };
    messages.push({ id, type, at, body: JSON.stringify({ sub_id, events: { [type]: claims } }) });
  }
  return messages;
}

async function pushAsStatusAllows(deps: StreamTargetDeps, delivery: EventDelivery): Promise<AttemptOutcome> {
  const { orgId, targetId, type, attempts } = delivery;
  const stream = await findStream(deps.database.query, { orgId, id: targetId });
  const isSilent = stream !== undefined && stream.status !== "enabled";
  const isNotice = type === STREAM_UPDATED;
  if (isSilent && !isNotice) {
    await endNotice(deps, delivery);
    return { status: null, error: `the stream is ${stream.status}` };
  }
  const outcome = await push(deps, stream, delivery);
  const isOver = outcome.error === undefined || attempts > RETRY_DELAYS_MS.length;
  if (isSilent && isOver) await endNotice(deps, delivery);
  return outcome;
}

async function push(
  deps: StreamTargetDeps,
  stream: EventStream | undefined,
  delivery: EventDelivery,
): Promise<AttemptOutcome> {
  const { orgId } = delivery;
  const client = stream && (await deps.applications.find(orgId, stream.clientId));
  if (!client || !mayHear(client) || stream.endpointUrl === null)
    return {
      status: null,
      error: "the stream or its client is gone, disabled or not allowed",
      isFinal: !stream,
    };
  const token = await securityEventToken(deps, { ...delivery, audience: client.id });
  try {
    const { status, body } = await deps.outbound.call(orgId, stream.endpointUrl, {
      ...{ method: "POST", body: token, maxBytes: 16 * 1024 },
      headers: pushHeaders(deps.encryption, stream),
    });
    if (status >= 200 && status < 300) return { status };
    return { status, error: `the receiver answered ${status}${reportedError(body)}` };
  } catch (error) {
    if (error instanceof OutboundFailure) return { status: null, error: error.message };
    throw error;
  }
}

function pushHeaders(encryption: Encryption, stream: EventStream): Record<string, string> {
  const authorization = openAuthorization(encryption, stream);
  return {
    ...{ "content-type": "application/secevent+jwt", accept: "application/json" },
    ...(authorization === undefined ? {} : { authorization }),
  };
}

/** RFC 8935 §2.3: a code of the registry; what else the receiver says is not kept. */
function reportedError(body: Buffer): string {
  try {
    const { err } = JSON.parse(body.toString()) as { err?: unknown };
    return typeof err === "string" && /^[a-zA-Z_]{1,40}$/.test(err) ? ` (${err})` : "";
  } catch {
    return "";
  }
}
