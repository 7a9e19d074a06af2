/** `POST /add-checkpoint` of C2SP tlog-witness. Anybody may send: bodies, times and connections are bounded. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describeError } from "@signet/cli-runtime/redact";
import { addCheckpoint, type WitnessAnswer, type WitnessDeps } from "./witness.ts";

/** A note of 64 KiB, 63 hashes and the old size. */
const MAX_BYTES = 65_536 + 4_096;
const BODY_MS = 10_000;
/** A log asks each minute at least, over one connection. */
const KEEP_ALIVE_MS = 75_000;
const MAX_CONNECTIONS = 1_000;

export interface ServerDeps extends WitnessDeps {
  readonly listen: { readonly host?: string | undefined; readonly port: number };
  /** Each answer to `add-checkpoint`. */
  readonly onAnswer: (answer: WitnessAnswer | { readonly status: 413 | 500 }) => void;
}

export interface WitnessServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function startWitnessServer(deps: ServerDeps): Promise<WitnessServer> {
  const server = createServer((request, response) => {
    handle(deps, request, response).catch(() => response.destroy());
  });
  server.requestTimeout = BODY_MS;
  server.headersTimeout = BODY_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxConnections = MAX_CONNECTIONS;
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(deps.listen.port, deps.listen.host ?? "127.0.0.1", resolve);
  await listening;
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeIdleConnections();
      }),
  };
}

async function handle(deps: ServerDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const send = (status: number, text: string, headers: Record<string, string> = {}) => {
    const type = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
    response.writeHead(status, { ...type, ...headers }).end(text);
  };
  const [path] = (request.url ?? "").split("?", 1);
  if (path === "/healthz" && request.method === "GET") return send(200, "ok\n");
  if (path !== "/add-checkpoint") return send(404, "see /add-checkpoint and /healthz\n");
  if (request.method !== "POST") return send(405, "POST only\n", { allow: "POST" });
  const body = await readBody(request);
  if (body === undefined) {
    deps.onAnswer({ status: 413 });
    return send(413, "the body is too long\n", { connection: "close" });
  }
  const answer = judge(deps, body);
  deps.onAnswer(answer);
  if (answer.status === 200) return send(200, `${answer.line}\n`);
  if (answer.status === 409) return send(409, `${answer.size}\n`, { "content-type": "text/x.tlog.size" });
  return send(answer.status, `${words[answer.status]}\n`);
}

const words = {
  400: "not a checkpoint, or an old size above its size",
  403: "not signed by the log",
  404: "not a log of this witness",
  422: "the proof is not one of consistency",
  500: "the checkpoint could not be kept",
} as const;

function judge(deps: ServerDeps, body: Buffer): WitnessAnswer | { readonly status: 500 } {
  const text = decodeUtf8(body);
  if (text === undefined) return { status: 400 };
  try {
    return addCheckpoint(deps, text);
  } catch (error) {
    deps.log("error", "a checkpoint could not be kept", { reason: describeError(error) });
    return { status: 500 };
  }
}

/** Bytes that are no UTF-8 would otherwise become others than the log has signed. */
function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Read to its end, so that the answer arrives; `requestTimeout` bounds it.
    if (length <= MAX_BYTES) chunks.push(chunk);
  }
  return length > MAX_BYTES ? undefined : Buffer.concat(chunks);
}
