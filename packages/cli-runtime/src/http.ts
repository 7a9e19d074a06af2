/** HTTP calls bounded in time and size. Redirects are never followed: credentials go nowhere else. */
import type http from "node:http";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Seconds, from Retry-After. */
  readonly retryAfter: number | undefined;
  readonly body: Buffer;
}

/** There was no answer: connection refused or lost, timeout, answer too long, server not trusted. */
export class CallFailed extends Error {
  override name = "CallFailed";
}

export function exchange(
  request: http.ClientRequest,
  body: string | Buffer | undefined,
  maxBytes: number,
): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  request.on("error", reject);
  request.on("response", (response) => {
    readBody(response, maxBytes).then((bytes) => resolve(toAnswer(response, bytes)), reject);
  });
  request.end(body);
  return promise;
}

/** The error of a call that had no answer. @param timeout the signal that bounds the call */
export function callFailed(
  { method, url, timeoutMs }: { method: string; url: string; timeoutMs: number },
  cause: unknown,
  timeout: AbortSignal,
): CallFailed {
  const reason = timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(cause);
  return new CallFailed(`${method} ${new URL(url).host}: ${reason}`, { cause });
}

/** Headers of a request with a body of known length, asking for JSON unless said otherwise. */
export function requestHeaders(
  headers: Readonly<Record<string, string>> | undefined,
  body: string | Buffer | undefined,
): Record<string, string | number> {
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  return { accept: "application/json", ...headers, ...length };
}

async function readBody(response: http.IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) {
      response.destroy();
      throw new Error(`an answer of more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toAnswer({ statusCode = 0, headers }: http.IncomingMessage, body: Buffer): HttpAnswer {
  const seconds = Number(headers["retry-after"]);
  const retryAfter = Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
  return { status: statusCode, headers, retryAfter, body };
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // OpenSSL's messages name its source files; `reason` is the part that helps.
  return "reason" in cause && typeof cause.reason === "string" ? cause.reason : cause.message.trim();
}
