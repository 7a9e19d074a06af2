/** The framework's route of a call, and its entry for the direct way. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { parsedForm, parseQuery } from "../form-body.ts";
import { type Answer, type Call, type CallHandler, writeAnswer } from "./call.ts";
import type { DirectCalls } from "./direct-calls.ts";

export function callOf(request: FastifyRequest): Call {
  return {
    raw: request.raw,
    requestId: request.id,
    route: request.routeOptions.url ?? "",
    params: (request.params ?? {}) as Record<string, string>,
    headers: request.headers,
    form: parsedForm(request),
    query: () => parseQuery(request),
  };
}

/** Past the framework's reply. Headers that hooks have set (CORS, HSTS) are kept, and the request log sees it like any other. */
export function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  const more = Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
  reply.hijack();
  writeAnswer(reply.raw, answer, more);
  return reply;
}

/** Registers the route with the framework, and for the direct way. */
export function callRoute(
  app: FastifyInstance,
  direct: DirectCalls,
  { method, path }: { readonly method: "GET" | "POST"; readonly path: string },
  handler: CallHandler,
): void {
  app.route({
    method,
    url: path,
    handler: async (request, reply) => sendAnswer(reply, await handler(callOf(request))),
  });
  direct.add(method, path, handler);
}
