/** /api/v1/organisations/{org}/event-streams: streams of security events, which their receivers have created (SSF 1.0). */
import type { EventStream } from "../../../core/event-streams/event-stream.ts";
import { MIN_VERIFICATION_SECONDS } from "../../../core/event-streams/event-stream.ts";
import { findStream, lockStream } from "../../../core/event-streams/event-streams.store.ts";
import { deleteStream, InvalidStream, verifyStream } from "../../../core/event-streams/event-streams.ts";
import { changeStreamStatus } from "../../../core/event-streams/stream-status.ts";
import { ApiError, conflict, invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import {
  type ApiResource,
  actRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
} from "../frame/resource-routes.ts";
import { streamPatch, streamRecord, streamSchema } from "./event-stream-record.ts";
import { listStreamPage, streamFields } from "./event-streams-list.store.ts";

export function apiEventStreamsRoutes(api: ApiScope, deps: ApiDeps): void {
  const streams: ApiResource<EventStream> = {
    ...{ api, deps, tag: "API v1: event streams", one: "event stream", many: "event streams", toAnswer },
    ...{ reads: ["signet:organisation:read"], writes: ["signet:organisation:write"] },
    ...{ schema: streamSchema, record: streamRecord },
  };
  listRoute(
    streams,
    "/api/v1/organisations/:org/event-streams",
    { operationId: "apiListEventStreams", summary: "List the event streams", fields: streamFields },
    ({ orgId, list }) => listStreamPage(deps.database.query, orgId, list),
  );
  getRoute(
    streams,
    "/api/v1/organisations/:org/event-streams/:id",
    { operationId: "apiReadEventStream", summary: "Get an event stream" },
    ({ orgId, id }) => findStream(deps.database.query, { orgId, id }),
  );
  changeRoutes(streams);
}

function changeRoutes(streams: ApiResource<EventStream>): void {
  patchRoute(
    streams,
    "/api/v1/organisations/:org/event-streams/:id",
    {
      ...{ operationId: "apiChangeEventStream", summary: "Pause, disable or enable an event stream" },
      ...{ body: streamPatch, example: { status: "paused", statusReason: "Maintenance until Monday" } },
      description:
        "The receiver is told by a `stream-updated` event (SSF 1.0 §8.1.5). It may set the status too: to stop one for good, take the scopes `ssf.*` from its application.",
    },
    async (inside, { caller, orgId, id, check, patch: { status, statusReason } }) => {
      if (status === null) throw invalid([{ path: "/status", message: "cannot be unset" }]);
      const before = await lockStream(inside.database.query, { orgId, id });
      if (!before) return undefined;
      // A reason belongs to the status that it was given for.
      const kept = status === undefined || status === before.status ? before.statusReason : null;
      const reason = statusReason === undefined ? kept : statusReason;
      const wanted = { status: status ?? before.status, reason };
      return changeStreamStatus(inside, { ...actOf(caller), id, check, ...wanted });
    },
  );
  deleteRoute(
    streams,
    "/api/v1/organisations/:org/event-streams/:id",
    {
      operationId: "apiDeleteEventStream",
      summary: "Delete an event stream, and what waits for its receiver",
    },
    (inside, { caller, id, check }) => deleteStream(inside, { ...actOf(caller), id, check }),
  );
  actRoute(
    streams,
    "/api/v1/organisations/:org/event-streams/:id/verify",
    {
      ...{ operationId: "apiVerifyEventStream", summary: "Send a verification event", errors: [409, 429] },
      description: "SSF 1.0 §8.1.4: the receiver gets it as every event, so a paused stream holds it.",
    },
    async (inside, { orgId, id, check }) => {
      const stream = await lockStream(inside.database.query, { orgId, id });
      if (!stream) return undefined;
      await check(stream);
      await verifyStream(inside, { orgId, id }, undefined);
      return stream;
    },
  );
}

/** The faults that these acts can meet: of a verification. */
function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidStream)) throw error;
  if (error.code === "disabled") throw conflict("A disabled stream sends and holds no event.");
  throw new ApiError(429, "rate-limited", "A verification event was sent a moment ago.", {
    headers: { "retry-after": String(MIN_VERIFICATION_SECONDS) },
  });
}
