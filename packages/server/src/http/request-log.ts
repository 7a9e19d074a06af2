/**
 * The request log: whose request it was, its route pattern, status and duration. The pattern and never the URL, which may hold a
 * code, a key or a token.
 */
import type { IncomingMessage } from "node:http";
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { RequestOfTrace } from "../telemetry/tracing.ts";
import { addressOf } from "./listeners/client-address.ts";
import type { PublishedDocuments } from "./published-documents.ts";

const DOCUMENT_COUNT_MS = 10_000;

export interface RequestLine {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** The one that the path or the credentials name; it need not exist. */
  readonly orgId?: string | undefined;
  /** A registered client that the request names; it need not have proven who it is. */
  readonly clientId?: string | undefined;
  /** Of the client, past trusted proxies. */
  readonly address?: string | undefined;
  readonly traceId?: string | undefined;
}

/** What is known of a request while it is handled. One object, which every request has. */
export interface RequestMarks extends RequestOfTrace {
  readonly requestId: string;
  readonly userAgent: string | undefined;
  /** Called when the request begins to wait for somebody else. */
  readonly onWait: () => void;
  /** Noted by whoever finds it out, for the line. */
  orgId: string | undefined;
  clientId: string | undefined;
}

/** A named member, as in admission/places.ts. */
type Marked = IncomingMessage & { signetMarks?: RequestMarks };

export const marksOf = (raw: Marked): RequestMarks | undefined => raw.signetMarks;

export function setMarks(raw: Marked, marks: RequestMarks): void {
  raw.signetMarks = marks;
}

/** The organisation that a path names. */
export const orgIdIn = (org: string | undefined): string | undefined =>
  org !== undefined && isUuid(org) ? org.toLowerCase() : undefined;

export interface RequestLogOptions {
  write(line: RequestLine): void;
  traceOf(raw: IncomingMessage): string | undefined;
}

export function logRequests(app: FastifyInstance, { write, traceOf }: RequestLogOptions): void {
  // With a callback, because a promise would cost every request.
  app.addHook("onResponse", (request, reply, done) => {
    const { raw, params, routeOptions } = request;
    // None when it was refused before its handler.
    const marks = marksOf(raw);
    marks?.onAnswered?.(reply.statusCode);
    write({
      requestId: request.id,
      method: request.method,
      route: routeOptions.url ?? "(none)",
      status: reply.statusCode,
      durationMs: toMilliseconds(reply.elapsedTime),
      orgId: marks?.orgId ?? orgIdIn((params as { org?: string } | null)?.org),
      clientId: marks?.clientId,
      address: addressOf(request),
      traceId: marks ? marks.traceId : traceOf(raw),
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
