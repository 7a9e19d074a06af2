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
  close(): void;
}

const MOST_BYTES = 262_144;

export function openConnections(): Connections {
  const options = { keepAlive: true, maxSockets: 64 };
  const plain = new http.Agent(options);
  const secure = new https.Agent(options);
  return {
    call: (call) =>
      call.url.startsWith("https:") ? send(https.request, secure, call) : send(http.request, plain, call),
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

function send(request: typeof http.request, agent: http.Agent, call: JsonCall): Promise<JsonAnswer> {
  const { method, url, body } = call;
  const headers: Record<string, string | number> = { accept: "application/json", ...call.headers };
  if (body !== undefined) {
    headers["content-type"] = "application/json";
    headers["content-length"] = Buffer.byteLength(body);
  }
  return new Promise((resolve, reject) => {
    const timeout = AbortSignal.timeout(call.timeoutMs);
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    const fail = (error: Error) => {
      const reason = timeout.aborted ? `no answer within ${call.timeoutMs / 1000} s` : error.message;
      reject(new CallFailed(`${method} ${new URL(url).host}: ${reason}`, { cause: error }));
    };
    const sent = request(url, { method, agent, headers, signal }, (answer) => {
      readBody(answer).then((text) => resolve(jsonAnswer(answer, text)), fail);
    });
    sent.on("error", fail);
    sent.end(body);
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
