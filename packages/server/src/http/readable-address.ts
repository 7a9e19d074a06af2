/** No id, name or token of ours has a NUL in it, and PostgreSQL's text cannot hold one: such an address is nowhere. */
import type { FastifyInstance } from "fastify";

/**
 * For every route of the app. An organisation that is none is answered by its own lookup; queries and form bodies with a
 * NUL are refused where they are read.
 */
export function refuseNulInAddresses(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { org: _, ...others } = (request.params ?? {}) as Readonly<Record<string, string>>;
    if (Object.values(others).some((value) => value.includes("\0"))) reply.callNotFound();
    else done();
  });
}
