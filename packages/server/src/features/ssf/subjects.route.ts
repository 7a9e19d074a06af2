/**
 * POST /oauth/{org}/ssf/subjects/add and …/remove (SSF 1.0 §8.1.3): of whom a stream tells. It tells of all that may use the client
 * from the start; one that is removed is left out until it is added again. The answer is the same for users that there are and that
 * there are not (§9.1, subject probing).
 */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import Type, { type Static } from "typebox";
import { setSubject } from "../../core/event-streams/event-streams.ts";
import { issuerOf } from "../../core/organisations/organisation.ts";
import { emailKey } from "../../core/users/user.ts";
import { findUserByEmail } from "../../core/users/users.store.ts";
import { type ReceiverCall, receiverRoute, requireStream, type SsfDeps } from "./receiver.ts";
import { bodyReader, toAnswer } from "./stream-body.ts";

/** RFC 9493 §3.2.2, §3.2.3. */
const subject = Type.Union([
  Type.Object({
    format: Type.Literal("iss_sub"),
    iss: Type.String({ maxLength: 2_048 }),
    sub: Type.String({ maxLength: 255 }),
  }),
  Type.Object({ format: Type.Literal("email"), email: Type.String({ minLength: 3, maxLength: 320 }) }),
]);

const readSubject = bodyReader(
  Type.Object({
    stream_id: Type.String({ maxLength: 100 }),
    subject,
    verified: Type.Optional(Type.Boolean()),
  }),
);

export function ssfSubjectsRoutes(app: FastifyInstance, deps: SsfDeps): void {
  const change = (isRemoved: boolean) =>
    receiverRoute(deps, "ssf.manage", async (call) => {
      const body = readSubject(call.request);
      const { id } = await requireStream(deps, call, body.stream_id);
      const userId = await userOf(deps, call, body.subject);
      await setSubject(deps, { ...call.act, id, userId, isRemoved }).catch(toAnswer);
      return call.reply.code(isRemoved ? 204 : 200).send();
    });
  app.post("/oauth/:org/ssf/subjects/add", change(false));
  app.post("/oauth/:org/ssf/subjects/remove", change(true));
}

/** @returns undefined for one that is none of this organisation's */
async function userOf(
  { baseUrl, database }: SsfDeps,
  { organisation }: ReceiverCall,
  named: Static<typeof subject>,
): Promise<string | undefined> {
  if (named.format === "email")
    return (await findUserByEmail(database.query, organisation.id, emailKey(named.email)))?.user.id;
  const isOurs = named.iss === issuerOf(baseUrl, organisation.id) && isUuid(named.sub);
  return isOurs ? named.sub.toLowerCase() : undefined;
}
