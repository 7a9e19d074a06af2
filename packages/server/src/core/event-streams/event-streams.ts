/** Creates, changes and ends streams; what a receiver asks of them (SSF 1.0 §8.1). */
import { newUuid } from "@signet/protocol/uuid";
import type { Application } from "../applications/application.ts";
import { isCallable } from "../applications/validation.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { insertDeliveries } from "../event-deliveries/deliveries.store.ts";
import { deleteTarget, extendQueue, insertTarget } from "../event-deliveries/targets.store.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { sealAuthorization } from "./authorization-header.ts";
import {
  type EventStream,
  flowOf,
  kindOf,
  MAX_REMOVED_SUBJECTS,
  MAX_STREAMS,
  MIN_VERIFICATION_SECONDS,
  POLL,
  PUSH,
  type StreamKey,
} from "./event-stream.ts";
import {
  countRemoved,
  deleteRemoved,
  deleteStreamRow,
  insertRemoved,
  insertStream,
  listStreams,
  lockStream,
  replaceStream,
  takeVerification,
} from "./event-streams.store.ts";
import { VERIFICATION } from "./security-events.ts";

export interface StreamDeps extends CoreDeps {
  readonly encryption: Encryption;
}

const messages = {
  "invalid-endpoint": "delivery.endpoint_url must be an https URL without credentials and fragment",
  "invalid-header": "delivery.authorization_header must be 1 to 1,000 visible characters",
  "unknown-method": `delivery.method must be ${PUSH} or ${POLL}`,
  "method-fixed": "the delivery method of a stream cannot change: delete it and create another",
  "too-many-streams": `a client has at most ${MAX_STREAMS} streams`,
  "pool-signed": "a client whose tokens a signing pool signs gets no events: the pool's agents sign none",
  "too-many-subjects": `a stream leaves out at most ${MAX_REMOVED_SUBJECTS} subjects`,
  "too-soon": "a verification event was asked for a moment ago",
  disabled: "a disabled stream sends and holds no event",
} as const;

export class InvalidStream extends Error {
  override readonly name = "InvalidStream";
  readonly code: keyof typeof messages;
  constructor(code: keyof typeof messages) {
    super(messages[code]);
    this.code = code;
  }
}

/** What the receiver supplies. */
export interface StreamSettings {
  readonly method: string;
  readonly endpointUrl: string | null;
  /** Undefined leaves it, null takes it away. */
  readonly authorizationHeader?: string | null;
  readonly eventsRequested: readonly string[];
  readonly description: string | null;
}

type OfStream = Act & { readonly id: string };

/** @throws InvalidStream */
function requireValid({ method, endpointUrl, authorizationHeader }: StreamSettings): EventStream["method"] {
  if (method !== PUSH && method !== POLL) throw new InvalidStream("unknown-method");
  if (method === PUSH && (endpointUrl === null || !isCallable(endpointUrl)))
    throw new InvalidStream("invalid-endpoint");
  const header = authorizationHeader ?? null;
  if (header !== null && !/^[\x21-\x7e](?:[\x20-\x7e]{0,998}[\x21-\x7e])?$/.test(header))
    throw new InvalidStream("invalid-header");
  return method;
}

const sealedHeader = (
  { encryption }: StreamDeps,
  key: StreamKey,
  { method, authorizationHeader }: StreamSettings,
  before: string | null,
): string | null => {
  if (method !== PUSH || authorizationHeader === null) return null;
  return authorizationHeader === undefined ? before : sealAuthorization(encryption, key, authorizationHeader);
};

/** @throws InvalidStream */
export async function createStream(
  deps: StreamDeps,
  { client, settings, ...act }: Act & { readonly client: Application; readonly settings: StreamSettings },
): Promise<EventStream> {
  const method = requireValid(settings);
  // An organisation key would sign for a receiver that trusts its pool alone (sovereign-signing.md §1).
  if (client.settings.signingPoolId !== undefined) throw new InvalidStream("pool-signed");
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    // Of two at once the second counts the first.
    await lockOrganisation(tx, act.orgId);
    if ((await listStreams(tx, act.orgId, client.id)).length >= MAX_STREAMS)
      throw new InvalidStream("too-many-streams");
    const key = { orgId: act.orgId, id: newUuid() };
    const stream: EventStream = {
      ...{ ...key, clientId: client.id, method, status: "enabled", statusReason: null },
      endpointUrl: method === PUSH ? settings.endpointUrl : null,
      authorizationHeader: sealedHeader(deps, key, settings, null),
      ...{ eventsRequested: settings.eventsRequested, description: settings.description },
      ...{ verifiedAt: 0, createdAt: now, updatedAt: now },
    };
    await insertStream(tx, stream);
    await insertTarget(tx, { ...key, kind: kindOf(stream), ...flowOf(stream) });
    const details = { client: client.id, events: stream.eventsRequested };
    const event = { action: "event-stream.created" as const, target: key.id, details };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return stream;
  });
}

/** @param settings of the stream as it will be. @returns undefined when there is none. @throws InvalidStream */
export function changeStream(
  deps: StreamDeps,
  { id, settings, ...act }: OfStream & { readonly settings: (before: EventStream) => StreamSettings },
): Promise<EventStream | undefined> {
  return deps.database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    const before = await lockStream(tx, key);
    if (!before) return undefined;
    const wanted = settings(before);
    if (requireValid(wanted) !== before.method) throw new InvalidStream("method-fixed");
    const now = deps.clock();
    const stream: EventStream = {
      ...before,
      endpointUrl: before.method === PUSH ? wanted.endpointUrl : null,
      authorizationHeader: sealedHeader(deps, key, wanted, before.authorizationHeader),
      ...{ eventsRequested: wanted.eventsRequested, description: wanted.description, updatedAt: now },
    };
    await replaceStream(tx, stream);
    const details = { events: stream.eventsRequested };
    const event = { action: "event-stream.changed" as const, target: id, details };
    await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
    return stream;
  });
}

/**
 * Leaves a user out, or no longer.
 * @param subject.userId undefined for one that there is not: a full list refuses it as any other, or it would tell who there is
 * @throws InvalidStream
 */
export function setSubject(
  { database, clock }: CoreDeps,
  {
    id,
    userId,
    isRemoved,
    ...act
  }: OfStream & { readonly userId: string | undefined; readonly isRemoved: boolean },
): Promise<void> {
  return database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    if (!(await lockStream(tx, key))) return;
    if (isRemoved && (await countRemoved(tx, key)) >= MAX_REMOVED_SUBJECTS)
      throw new InvalidStream("too-many-subjects");
    if (userId === undefined) return;
    const isChanged = await (isRemoved ? insertRemoved : deleteRemoved)(tx, key, userId);
    if (!isChanged) return;
    const details = { subject: userId, act: isRemoved ? "removed" : "added" };
    const event = { action: "event-stream.changed" as const, target: id, details };
    await recordAuditEvent(tx, { ...auditFields(act, clock()), ...event });
  });
}

/** With what waits. @returns false when there is none */
export function deleteStream(
  { database, clock }: CoreDeps,
  { id, check, ...act }: OfStream & { check?(stream: EventStream): Promise<void> },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const key = { orgId: act.orgId, id };
    const stream = await lockStream(tx, key);
    if (!stream) return false;
    await check?.(stream);
    await deleteTarget(tx, key);
    await deleteStreamRow(tx, key);
    const event = { action: "event-stream.deleted" as const, target: id };
    await recordAuditEvent(tx, { ...auditFields(act, clock()), ...event });
    return true;
  });
}

/** Queues a verification event (§8.1.4). @throws InvalidStream when it is too soon, or the stream disabled (§8.1.2) */
export function verifyStream(
  { database, clock }: CoreDeps,
  { orgId, id }: StreamKey,
  state: string | undefined,
): Promise<void> {
  return database.transaction(async (tx) => {
    const now = clock();
    const minMs = MIN_VERIFICATION_SECONDS * 1_000;
    if ((await lockStream(tx, { orgId, id }))?.status === "disabled") throw new InvalidStream("disabled");
    if (!(await takeVerification(tx, { orgId, id }, { now, minMs }))) throw new InvalidStream("too-soon");
    const after = (await extendQueue(tx, { orgId, id }, { count: 1, now })) ?? 0;
    const events = { [VERIFICATION]: state === undefined ? {} : { state } };
    const body = JSON.stringify({ sub_id: { format: "opaque", id }, events });
    const message = { id: newUuid(), type: VERIFICATION, at: now, body };
    await insertDeliveries(tx, { orgId, id }, [message], { after, now });
  });
}
