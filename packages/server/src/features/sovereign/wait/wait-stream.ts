/**
 * The stream of a request's statuses, as server-sent events (HTML Living Standard §9.2): `event:` is the status, `id:` its
 * seq, `data:` the status whole. It ends after a final event; a browser that has heard that one and comes back is told
 * to stay away.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { CodedError } from "../../../http/coded-error.ts";
import { isFinal, nameOf, type WaitStatus } from "./wait-status.ts";

/** Proxies and browsers give up on a connection that says nothing. */
export const COMMENT_EVERY_MS = 15_000;
/** When a stream breaks off, e.g. because its server is replaced. */
const COME_BACK_MS = 2_000;
/** Of one request at once, on this node: a person has a tab or two. The page of one more asks instead of listening. */
export const MOST_STREAMS = 6;

export interface Watched {
  /** As it is when the browser comes. */
  readonly first: WaitStatus;
  /** The status after news, at the latest after `ms`; undefined when the request is gone, or who may see it. */
  next(sinceSeq: number, ms: number, signal: AbortSignal): Promise<WaitStatus | undefined>;
}

/** The streams of one server: it ends them when it stops, so that their browsers go to another. */
export interface StatusStreams {
  /** @throws CodedError 429 when the request has enough of them */
  open(request: FastifyRequest, reply: FastifyReply, watched: Watched): Promise<void>;
  endAll(): void;
}

export function statusStreams(): StatusStreams {
  const open = new Map<string, Set<AbortController>>();
  let isStopping = false;
  return {
    open: async (request, reply, watched) => {
      const { first } = watched;
      if (isFinal(first.status) && request.headers["last-event-id"] === String(first.seq)) {
        await reply.code(204).header("cache-control", "no-store").send();
        return;
      }
      const { requestId } = first;
      const others = open.get(requestId) ?? new Set();
      if (others.size >= MOST_STREAMS) throw tooMany();
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      if (isStopping) gone.abort();
      open.set(requestId, others.add(gone));
      begin(reply);
      try {
        await tell(reply, watched, gone.signal);
      } finally {
        others.delete(gone);
        if (others.size === 0) open.delete(requestId);
        reply.raw.end();
      }
    },
    endAll: () => {
      isStopping = true;
      for (const some of open.values()) for (const one of some) one.abort();
    },
  };
}

const tooMany = () =>
  new CodedError(429, "temporarily_unavailable", "this request has enough streams", {
    headers: { "retry-after": "2" },
  });

function begin(reply: FastifyReply): void {
  reply.headers({
    "content-type": "text/event-stream; charset=utf-8",
    // no-transform: a proxy that compresses would hold events back until it has enough of them; nginx buffers by itself.
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
    // Kept open after its stream, the connection would hold up a server that stops.
    connection: "close",
    "x-content-type-options": "nosniff",
  });
  const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
  reply.hijack();
  reply.raw.writeHead(200, headers);
  reply.raw.write(`retry: ${COME_BACK_MS}\n\n`);
}

async function tell({ raw }: FastifyReply, { first, next }: Watched, signal: AbortSignal): Promise<void> {
  let told = first;
  raw.write(eventOf(told));
  while (!isFinal(told.status) && !signal.aborted) {
    const status = await next(told.seq, untilNews(told), signal);
    if (!status || signal.aborted) return;
    const isNews = status.seq !== told.seq || nameOf(status) !== nameOf(told);
    raw.write(isNews ? eventOf(status) : ":\n\n");
    told = status;
  }
}

/** What lapses tells nobody: it is looked at when its time is over. */
function untilNews({ expiresIn, challenge }: WaitStatus): number {
  const lapses = Math.min(expiresIn, challenge?.expiresIn ?? expiresIn) * 1000;
  return Math.min(COMMENT_EVERY_MS, Math.max(1_000, lapses));
}

/** JSON has no line breaks of its own, so that the data is one line. */
const eventOf = (status: WaitStatus): string =>
  `event: ${status.status}\nid: ${status.seq}\ndata: ${JSON.stringify(status)}\n\n`;
