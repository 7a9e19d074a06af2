/** One JSON call over kept connections: bounded in time and size, and never led elsewhere by a redirect. */
import http from "node:http";
import https from "node:https";
import { isJsonObject, type JsonObject, parseStrictJson } from "../strict-json.ts";

export interface JsonCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is; JSON text. */
  readonly body?: string;
  readonly timeoutMs: number;
  /** Hangs up while there is no answer; one that has begun is read to its end, since the other side counts it as told. */
  readonly signal?: AbortSignal | undefined;
}

export interface JsonAnswer {
  readonly status: number;
  /** Undefined when the body is empty or no JSON object. */
  readonly body: JsonObject | undefined;
  /** Seconds, of Retry-After. */
  readonly retryAfter: number | undefined;
  readonly location: string | undefined;
}

/** No answer at all: refused, cut off, too late, too long. */
export class CallFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CallFailed";
  }
}

export interface Connections {
  call(call: JsonCall): Promise<JsonAnswer>;
  /** Ends every call, and each that is made later at once. */
  close(): void;
}

const MOST_BYTES = 262_144;

/** @param mostCalls at once to one host: more wait for their turn */
export function openConnections(mostCalls = 64): Connections {
  const options = { keepAlive: true, maxSockets: mostCalls };
  const plain = new http.Agent(options);
  const secure = new https.Agent(options);
  const open = new Set<http.ClientRequest>();
  let isClosed = false;
  return {
    call: async (call) => {
      if (isClosed) throw new CallFailed("the connections are closed");
      const isSecure = call.url.startsWith("https:");
      return await send(isSecure ? https.request : http.request, isSecure ? secure : plain, call, open);
    },
    close: () => {
      isClosed = true;
      for (const one of open) one.destroy(new Error("the connections are closed"));
      plain.destroy();
      secure.destroy();
    },
  };
}

function send(
  request: typeof http.request,
  agent: http.Agent,
  call: JsonCall,
  open: Set<http.ClientRequest>,
): Promise<JsonAnswer> {
  const { method, url, body, signal } = call;
  const headers: Record<string, string | number> = { accept: "application/json", ...call.headers };
  if (body !== undefined) {
    headers["content-type"] = "application/json";
    headers["content-length"] = Buffer.byteLength(body);
  }
  return new Promise((resolve, reject) => {
    const timeout = AbortSignal.timeout(call.timeoutMs);
    const fail = (error: Error) => {
      const reason = timeout.aborted ? `no answer within ${call.timeoutMs / 1000} s` : error.message;
      reject(new CallFailed(`${method} ${new URL(url).host}: ${reason}`, { cause: error }));
    };
    const sent = request(url, { method, agent, headers, signal: timeout }, (answer) => {
      signal?.removeEventListener("abort", hangUp);
      readBody(answer).then((text) => resolve(jsonAnswer(answer, text)), fail);
    });
    const hangUp = () => sent.destroy(new Error("given up", { cause: signal?.reason }));
    signal?.addEventListener("abort", hangUp, { once: true });
    open.add(sent);
    sent.on("close", () => {
      open.delete(sent);
      signal?.removeEventListener("abort", hangUp);
    });
    sent.on("error", fail);
    sent.end(body);
    if (signal?.aborted) hangUp();
  });
}

async function readBody(answer: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_BYTES) {
      answer.destroy();
      throw new CallFailed(`an answer of more than ${MOST_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function jsonAnswer({ statusCode = 0, headers }: http.IncomingMessage, text: string): JsonAnswer {
  const seconds = Number(headers["retry-after"]);
  return {
    status: statusCode,
    body: objectOf(text),
    retryAfter: Number.isFinite(seconds) && seconds > 0 ? seconds : undefined,
    location: headers.location,
  };
}

function objectOf(text: string): JsonObject | undefined {
  if (text === "") return undefined;
  try {
    const value = parseStrictJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
