/**
 * Server-sent events of a request's status (HTML Living Standard §9.2): `event:` is the status, `id:` its seq, `data:` the
 * whole status as JSON. The stream ends after a final event; a browser that reconnects after it gets 204.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { CodedError } from "../../../http/coded-error.ts";
import { displayKey, isFinal, type WaitStatus } from "./wait-status.ts";

/** Proxies and browsers close a silent connection. */
export const KEEPALIVE_MS = 15_000;
/** The browser reconnects after this when its stream breaks, e.g. during a deployment. */
const RECONNECT_MS = 2_000;
/** Per request and node; the page of any further tab polls instead. */
export const MAX_STREAMS = 6;

export interface Watched {
  readonly first: WaitStatus;
  /** The status after a change, at the latest after `ms`; undefined when the request or the session is gone. */
  next(sinceSeq: number, ms: number, signal: AbortSignal): Promise<WaitStatus | undefined>;
}

export type StatusStreams = ReturnType<typeof statusStreams>;

/** The streams of this node; on shutdown their browsers reconnect to another. */
/** @param workers processes of this machine that share the limit */
export function statusStreams(workers = 1) {
  const max = Math.ceil(MAX_STREAMS / workers);
  const open = new Map<string, Set<AbortController>>();
  let isStopping = false;
  return {
    /** @throws CodedError 429 above the limit per request */
    open: async (request: FastifyRequest, reply: FastifyReply, watched: Watched): Promise<void> => {
      const { first } = watched;
      if (isFinal(first.status) && request.headers["last-event-id"] === String(first.seq)) {
        await reply.code(204).header("cache-control", "no-store").send();
        return;
      }
      const { requestId } = first;
      const others = open.get(requestId) ?? new Set();
      if (others.size >= max) throw tooMany();
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      if (isStopping) gone.abort();
      open.set(requestId, others.add(gone));
      sendHeaders(reply);
      try {
        await sendEvents(reply, watched, gone.signal);
      } finally {
        others.delete(gone);
        if (others.size === 0) open.delete(requestId);
        reply.raw.end();
      }
    },
    endAll: (): void => {
      isStopping = true;
      for (const some of open.values()) for (const one of some) one.abort();
    },
  };
}

const tooMany = () =>
  new CodedError(429, "temporarily_unavailable", "too many streams for this request", {
    headers: { "retry-after": "2" },
  });

function sendHeaders(reply: FastifyReply): void {
  reply.headers({
    "content-type": "text/event-stream; charset=utf-8",
    // no-transform: a compressing proxy would buffer events; nginx buffers unless told otherwise.
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
    // A kept-alive connection would delay the shutdown.
    connection: "close",
    "x-content-type-options": "nosniff",
  });
  const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
  reply.hijack();
  reply.raw.writeHead(200, headers);
  reply.raw.write(`retry: ${RECONNECT_MS}\n\n`);
}

async function sendEvents(
  { raw }: FastifyReply,
  { first, next }: Watched,
  signal: AbortSignal,
): Promise<void> {
  let sent = first;
  raw.write(formatEvent(sent));
  while (!isFinal(sent.status) && !signal.aborted) {
    const status = await next(sent.seq, nextEventMs(sent), signal);
    if (!status || signal.aborted) return;
    const isChanged = status.seq !== sent.seq || displayKey(status) !== displayKey(sent);
    raw.write(isChanged ? formatEvent(status) : ":\n\n");
    sent = status;
  }
}

/** Expiry causes no notification: the stream reads again when the request or its challenge expires. */
function nextEventMs({ expiresIn, challenge }: WaitStatus): number {
  const expiresMs = Math.min(expiresIn, challenge?.expiresIn ?? expiresIn) * 1000;
  return Math.min(KEEPALIVE_MS, Math.max(1_000, expiresMs));
}

/** JSON.stringify produces no line breaks: the data is one line. */
const formatEvent = (status: WaitStatus): string =>
  `event: ${status.status}\nid: ${status.seq}\ndata: ${JSON.stringify(status)}\n\n`;
