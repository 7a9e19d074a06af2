/** POST /oauth/{org}/ssf/streams/{streamId}/poll: fetches events and says what became of earlier ones (RFC 8936). */
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import Type, { type Static } from "typebox";
import { auditedRequest } from "../../core/audit/audited-request.ts";
import { listPending, settlePending } from "../../core/event-deliveries/deliveries.store.ts";
import type { EventDelivery } from "../../core/event-deliveries/target-kind.ts";
import { type EventStream, POLL } from "../../core/event-streams/event-stream.ts";
import { findStream } from "../../core/event-streams/event-streams.store.ts";
import { securityEventToken } from "../../core/event-streams/security-event-token.ts";
import { STREAM_UPDATED } from "../../core/event-streams/security-events.ts";
import { notFound } from "../../http/api/api-error.ts";
import { type ReceiverCall, receiverRoute, requireStream, type SsfDeps } from "./receiver.ts";
import { bodyReader } from "./stream-body.ts";

/** An RSA signature each. */
const MAX_EVENTS = 50;
const MAX_ACKNOWLEDGED = 1_000;
const WAIT_MS = 20_000;
const LOOK_MS = 500;
/** Of one stream on one node: each looks twice in a second. Beyond, a call is answered at once. */
const MAX_PATIENT = 5;

const reported = Type.Object({
  err: Type.String({ maxLength: 100 }),
  description: Type.Optional(Type.String({ maxLength: 1_000 })),
});
const pollSchema = Type.Object({
  maxEvents: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  returnImmediately: Type.Optional(Type.Boolean()),
  ack: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: MAX_ACKNOWLEDGED })),
  setErrs: Type.Optional(
    Type.Record(Type.String({ maxLength: 100 }), reported, { maxProperties: MAX_ACKNOWLEDGED }),
  ),
});
const readPoll = bodyReader(pollSchema);

export function ssfPollRoute(app: FastifyInstance, deps: SsfDeps): void {
  const patient = new Map<string, number>();
  app.post(
    "/oauth/:org/ssf/streams/:streamId/poll",
    receiverRoute(deps, "ssf.read", async (call) => {
      const body = readPoll(call.request);
      const { streamId } = call.request.params as { readonly streamId?: string };
      const stream = await requireStream(deps, call, streamId);
      if (stream.method !== POLL) throw notFound();
      await settle(deps, stream, body);
      const { maxEvents = MAX_EVENTS, returnImmediately = false } = body;
      const limit = Math.min(maxEvents, MAX_EVENTS);
      const others = patient.get(stream.id) ?? 0;
      const isPatient = !returnImmediately && others < MAX_PATIENT;
      if (isPatient) patient.set(stream.id, others + 1);
      const found = await waitForEvents(deps, call, stream, { limit, isPatient }).finally(() => {
        if (isPatient) leave(patient, stream.id);
      });
      const sets: Record<string, string> = {};
      for (const { id, body: event } of found.slice(0, limit)) {
        const token = { orgId: stream.orgId, audience: stream.clientId, id, body: event };
        sets[id] = await securityEventToken(deps, token);
      }
      return call.reply.send({ sets, moreAvailable: found.length > limit });
    }),
  );
}

function leave(places: Map<string, number>, id: string): void {
  const left = (places.get(id) ?? 1) - 1;
  if (left > 0) places.set(id, left);
  else places.delete(id);
}

/** RFC 8936 §2.4.1: what was received, and what was in error, is not sent again. */
async function settle(
  { database: { query }, clock }: SsfDeps,
  stream: EventStream,
  { ack = [], setErrs = {} }: Static<typeof pollSchema>,
): Promise<void> {
  const at = clock();
  await settlePending(query, stream, ack, { state: "delivered", error: null, at });
  for (const [err, ids] of Map.groupBy(Object.keys(setErrs), (id) => setErrs[id]?.err ?? "")) {
    const code = /^[a-zA-Z_]{1,40}$/.test(err) ? err : "an error";
    await settlePending(query, stream, ids, { state: "dead", error: `the receiver reported ${code}`, at });
  }
}

/** One more than wanted. A receiver that waits hears of an event within half a second. */
async function waitForEvents(
  { database: { query } }: SsfDeps,
  { request }: ReceiverCall,
  stream: EventStream,
  { limit, isPatient }: { readonly limit: number; readonly isPatient: boolean },
): Promise<EventDelivery[]> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    // It may be paused, or deleted, while its receiver waits.
    const current = await findStream(query, stream);
    // §8.1.5: whose stream this side has stopped still hears that.
    const which = current?.status === "enabled" ? {} : { type: STREAM_UPDATED };
    const found = current ? await listPending(query, stream, { limit: limit + 1, ...which }) : [];
    const isOver = performance.now() >= until || request.socket.destroyed;
    if (found.length > 0 || limit === 0 || !isPatient || isOver) return found;
    auditedRequest()?.onWait?.();
    await pause(LOOK_MS);
  }
}
