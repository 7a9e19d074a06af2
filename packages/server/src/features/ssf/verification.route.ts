/** POST /oauth/{org}/ssf/verify: asks for a verification event (SSF 1.0 §8.1.4). */
import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { verifyStream } from "../../core/event-streams/event-streams.ts";
import { receiverRoute, requireStream, type SsfDeps } from "./receiver.ts";
import { bodyReader, toAnswer } from "./stream-body.ts";

const readVerification = bodyReader(
  Type.Object({
    stream_id: Type.String({ maxLength: 100 }),
    state: Type.Optional(Type.String({ maxLength: 1_000 })),
  }),
);

export function ssfVerificationRoute(app: FastifyInstance, deps: SsfDeps): void {
  app.post(
    "/oauth/:org/ssf/verify",
    receiverRoute(deps, "ssf.manage", async (call) => {
      const { stream_id, state } = readVerification(call.request);
      const stream = await requireStream(deps, call, stream_id);
      await verifyStream(deps, stream, state).catch(toAnswer);
      return call.reply.code(204).send();
    }),
  );
}
