/** GET and POST /oauth/{org}/ssf/status: whether a stream sends (SSF 1.0 §8.1.2). */
import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { type EventStream, streamStatuses } from "../../core/event-streams/event-stream.ts";
import { setStreamStatus } from "../../core/event-streams/stream-status.ts";
import { notFound } from "../../http/api/api-error.ts";
import { receiverRoute, requireStream, type SsfDeps } from "./receiver.ts";
import { bodyReader, streamIdOf } from "./stream-body.ts";

const readStatus = bodyReader(
  Type.Object({
    stream_id: Type.String({ maxLength: 100 }),
    status: Type.Enum([...streamStatuses]),
    reason: Type.Optional(Type.Union([Type.String({ maxLength: 500 }), Type.Null()])),
  }),
);

const statusRecord = ({ id, status, statusReason }: EventStream) => ({
  ...{ stream_id: id, status },
  ...(statusReason === null ? {} : { reason: statusReason }),
});

export function ssfStatusRoutes(app: FastifyInstance, deps: SsfDeps): void {
  app.get(
    "/oauth/:org/ssf/status",
    receiverRoute(deps, "ssf.read", async (call) => {
      const stream = await requireStream(deps, call, streamIdOf(call.request));
      return call.reply.send(statusRecord(stream));
    }),
  );
  app.post(
    "/oauth/:org/ssf/status",
    receiverRoute(deps, "ssf.manage", async (call) => {
      const { stream_id, status, reason = null } = readStatus(call.request);
      const { id } = await requireStream(deps, call, stream_id);
      const stream = await setStreamStatus(deps, { ...call.act, id, status, reason });
      if (!stream) throw notFound();
      return call.reply.send(statusRecord(stream));
    }),
  );
}
