/** /oauth/{org}/ssf/streams: create, read, update, replace and delete streams (SSF 1.0 §8.1.1). */
import type { FastifyInstance } from "fastify";
import Type from "typebox";
import type { EventStream } from "../../core/event-streams/event-stream.ts";
import { listStreams } from "../../core/event-streams/event-streams.store.ts";
import {
  changeStream,
  createStream,
  deleteStream,
  type StreamSettings,
} from "../../core/event-streams/event-streams.ts";
import { notFound } from "../../http/api/api-error.ts";
import { receiverRoute, requireStream, type SsfDeps } from "./receiver.ts";
import {
  bodyReader,
  changedSettings,
  newSettings,
  requireUnchanged,
  type Supplied,
  streamIdOf,
  streamRecord,
  suppliedMembers,
  suppliedSchema,
  toAnswer,
} from "./stream-body.ts";

const readNew = bodyReader(suppliedSchema());
const readNamed = bodyReader(Type.Object({ stream_id: Type.String({ maxLength: 100 }), ...suppliedMembers }));

export function ssfStreamsRoutes(app: FastifyInstance, deps: SsfDeps): void {
  const { baseUrl, database } = deps;
  app.post(
    "/oauth/:org/ssf/streams",
    receiverRoute(deps, "ssf.manage", async ({ act, client, request, reply }) => {
      const settings = newSettings(readNew(request));
      const stream = await createStream(deps, { ...act, client, settings }).catch(toAnswer);
      return reply.code(201).send(streamRecord(baseUrl, stream));
    }),
  );
  app.get(
    "/oauth/:org/ssf/streams",
    receiverRoute(deps, "ssf.read", async (call) => {
      const { organisation, client, reply } = call;
      const id = streamIdOf(call.request);
      if (id !== undefined) return reply.send(streamRecord(baseUrl, await requireStream(deps, call, id)));
      const streams = await listStreams(database.query, organisation.id, client.id);
      return reply.send(streams.map((stream) => streamRecord(baseUrl, stream)));
    }),
  );
  const change = (settingsOf: (body: Supplied) => (before: EventStream) => StreamSettings) =>
    receiverRoute(deps, "ssf.manage", async (call) => {
      const body = readNamed(call.request);
      const stream = await requireStream(deps, call, body.stream_id);
      requireUnchanged(baseUrl, stream, body);
      const changed = { ...call.act, id: stream.id, settings: settingsOf(body) };
      const after = await changeStream(deps, changed).catch(toAnswer);
      if (!after) throw notFound();
      return call.reply.send(streamRecord(baseUrl, after));
    });
  app.patch("/oauth/:org/ssf/streams", change(changedSettings));
  app.put(
    "/oauth/:org/ssf/streams",
    change((body) => () => newSettings(body)),
  );
  app.delete(
    "/oauth/:org/ssf/streams",
    receiverRoute(deps, "ssf.manage", async (call) => {
      const { id } = await requireStream(deps, call, streamIdOf(call.request));
      if (!(await deleteStream(deps, { ...call.act, id }))) throw notFound();
      return call.reply.code(204).send();
    }),
  );
}
