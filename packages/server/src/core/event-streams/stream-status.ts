/**
 * The status of a stream: set by its receiver (SSF 1.0 §8.1.2), or by the organisation's administrators. Then the receiver is told
 * by a "stream updated" event (§8.1.5), which goes before what waits and also out of a stream that sends nothing else any more.
 */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import {
  deletePending,
  firstPosition,
  insertDeliveries,
  listPending,
} from "../event-deliveries/deliveries.store.ts";
import { extendQueue, setFlow } from "../event-deliveries/targets.store.ts";
import { type EventStream, flowOf, PUSH, type StreamKey, type StreamStatus } from "./event-stream.ts";
import { lockStream, replaceStream } from "./event-streams.store.ts";
import { STREAM_UPDATED } from "./security-events.ts";

interface NewStatus {
  readonly status: StreamStatus;
  readonly reason: string | null;
}

type OfStream = Act & NewStatus & { readonly id: string };

/** By its receiver. A disabled stream holds nothing; enabled again it takes what happens from then on. */
export const setStreamStatus = (deps: CoreDeps, wanted: OfStream): Promise<EventStream | undefined> =>
  deps.database.transaction(async (tx) => {
    const before = await lockStream(tx, { orgId: wanted.orgId, id: wanted.id });
    return before && applyStatus(tx, deps, before, wanted);
  });

/** By an administrator. @param wanted.check holds what the caller has read against the stream */
export const changeStreamStatus = (
  deps: CoreDeps,
  { check, ...wanted }: OfStream & { check?(stream: EventStream): Promise<void> },
): Promise<EventStream | undefined> =>
  deps.database.transaction(async (tx) => {
    const before = await lockStream(tx, { orgId: wanted.orgId, id: wanted.id });
    if (!before) return undefined;
    await check?.(before);
    const { status, reason } = wanted;
    if (status === before.status && reason === before.statusReason) return before;
    const stream = await applyStatus(tx, deps, before, wanted);
    if (status !== before.status) await queueNotice(tx, stream, deps.clock());
    return stream;
  });

async function applyStatus(
  tx: Db,
  { clock }: CoreDeps,
  before: EventStream,
  { status, reason, id, ...act }: OfStream,
): Promise<EventStream> {
  const key = { orgId: act.orgId, id };
  const now = clock();
  const stream = { ...before, status, statusReason: reason, updatedAt: now };
  await replaceStream(tx, stream);
  await setFlow(tx, key, { ...flowOf(stream), skips: before.status === "disabled" });
  // A notice that was not delivered tells what no longer holds.
  await deletePending(tx, key, status === "disabled" ? undefined : STREAM_UPDATED);
  const event = { action: "event-stream.changed" as const, target: id, details: { status } };
  await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
  return stream;
}

/** Before what waits. */
async function queueNotice(tx: Db, stream: EventStream, now: number): Promise<void> {
  const { orgId, id, status, statusReason } = stream;
  const key = { orgId, id };
  const first = await firstPosition(tx, key);
  // Its end moves too: whoever is just sending looks again.
  const end = (await extendQueue(tx, key, { count: 1, now })) ?? 0;
  const told = { status, ...(statusReason === null ? {} : { reason: statusReason }) };
  const body = JSON.stringify({ sub_id: { format: "opaque", id }, events: { [STREAM_UPDATED]: told } });
  const message = { id: newUuid(), type: STREAM_UPDATED, at: now, body };
  await insertDeliveries(tx, key, [message], { after: first === undefined ? end : first - 2, now });
  // It has to go out, whatever the status: see endNotice.
  await setFlow(tx, key, { ...flowOf(stream), isSent: stream.method === PUSH, skips: false });
}

/** The notice has arrived, or is given up: from a stream that is not enabled nothing else goes out. */
export const endNotice = (
  { database }: Pick<CoreDeps, "database">,
  { orgId, targetId, id }: { readonly orgId: string; readonly targetId: string; readonly id: string },
): Promise<void> =>
  database.transaction(async (tx) => {
    const key: StreamKey = { orgId, id: targetId };
    const stream = await lockStream(tx, key);
    const next = await listPending(tx, key, { limit: 2, type: STREAM_UPDATED });
    if (stream && !next.some((one) => one.id !== id))
      await setFlow(tx, key, { ...flowOf(stream), skips: false });
  });
