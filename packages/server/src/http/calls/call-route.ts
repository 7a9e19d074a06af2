/** The framework's route of a call, and its entry for the direct way. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { parsedForm, parseQuery } from "../form-body.ts";
import { type Answer, type Call, type CallHandler, lengthOf } from "./call.ts";
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
  const all = [...answer.headers, ...lengthOf(answer)];
  for (const [name, value] of Object.entries(reply.getHeaders())) all.push(name, String(value));
  reply.hijack();
  reply.raw.writeHead(answer.status, all);
  reply.raw.end(answer.body);
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
