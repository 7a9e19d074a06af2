/**
 * 400 for a path that cannot be read: letters encoded wrongly, or a parameter that is longer than any. The framework's hooks do not
 * see such a request, so what they do for every other is done here: its id, HSTS and its line in the log.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { type RenderErrorPage, sendProblem } from "./error-handlers.ts";
import { addressOf } from "./listeners/client-address.ts";
import { acceptsPage } from "./program.ts";
import { type RequestLogOptions, toMilliseconds } from "./request-log.ts";
import { REQUEST_ID_HEADER } from "./request-references.ts";

export interface MalformedPathDeps extends RequestLogOptions {
  readonly renderErrorPage: RenderErrorPage;
  /** Of every answer, names and values in turn. */
  readonly headers: readonly string[];
}

export type RefuseMalformedPath = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

const problem = { status: 400, code: "malformed", title: "The URL is malformed" };

export const malformedPaths =
  (deps: MalformedPathDeps): RefuseMalformedPath =>
  (_error, request, reply) => {
    logWhenAnswered(deps, request, reply);
    for (let at = 0; at < deps.headers.length; at += 2)
      reply.header(deps.headers[at] ?? "", deps.headers[at + 1]);
    reply.header(REQUEST_ID_HEADER, request.id);
    if (acceptsPage(request)) void deps.renderErrorPage(request, reply, { status: problem.status });
    else void sendProblem(reply, problem, request.id);
  };

function logWhenAnswered(
  { write, traceOf }: RequestLogOptions,
  request: FastifyRequest,
  { raw: response }: FastifyReply,
): void {
  const begunAt = performance.now();
  response.once("finish", () =>
    write({
      ...{ requestId: request.id, method: request.method, route: "(none)", status: response.statusCode },
      durationMs: toMilliseconds(performance.now() - begunAt),
      address: addressOf(request),
      traceId: traceOf(request.raw),
    }),
  );
}
