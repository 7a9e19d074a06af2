/**
 * One line per request: id, method, route pattern, status, duration. The pattern and never the address: a path or query
 * may hold a code, a key or a token.
 */
import type { FastifyInstance } from "fastify";

export interface RequestLine {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

export function logRequests(app: FastifyInstance, write: (line: RequestLine) => void): void {
  // With a callback: a promise per request is a price that every request would pay.
  app.addHook("onResponse", (request, reply, done) => {
    write({
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? "(none)",
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime * 100) / 100,
    });
    done();
  });
}

/** Cheap and unique enough to find one request in the logs of several nodes. */
export function requestIds(nodeName: string): () => string {
  let count = 0;
  return () => `${nodeName}-${(count++).toString(36)}`;
}
