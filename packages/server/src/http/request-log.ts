/**
 * The request log: id, method, route pattern, status, duration. The pattern and never the URL, which may hold a code,
 * a key or a token.
 */
import type { FastifyInstance } from "fastify";
import type { PublishedDocuments } from "./published-documents.ts";

const DOCUMENT_COUNT_MS = 10_000;

export interface RequestLine {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

export function logRequests(app: FastifyInstance, write: (line: RequestLine) => void): void {
  // With a callback, because a promise would cost every request.
  app.addHook("onResponse", (request, reply, done) => {
    write({
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? "(none)",
      status: reply.statusCode,
      durationMs: toMilliseconds(reply.elapsedTime),
    });
    done();
  });
}

/** With two decimals. */
export const toMilliseconds = (elapsed: number): number => Math.round(elapsed * 100) / 100;

/** Documents that are served before routing have no line each; their number has one every ten seconds. */
export function logServedDocuments(
  app: FastifyInstance,
  documents: PublishedDocuments,
  write: (served: number) => void,
): void {
  const writeCount = () => {
    const served = documents.takeCount();
    if (served > 0) write(served);
  };
  const timer = setInterval(writeCount, DOCUMENT_COUNT_MS).unref();
  app.addHook("onClose", async () => {
    clearInterval(timer);
    writeCount();
  });
}

/** Cheap and unique enough to find one request in the logs of several nodes. */
export function requestIds(nodeName: string): () => string {
  let count = 0;
  return () => `${nodeName}-${(count++).toString(36)}`;
}
