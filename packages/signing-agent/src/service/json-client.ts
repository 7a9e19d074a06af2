/** JSON calls over pooled connections. */
import http from "node:http";
import https from "node:https";
import { CallFailed, callFailed, exchange, type HttpAnswer, requestHeaders } from "@signet/cli-runtime/http";
import { isJsonObject, type JsonObject, parseStrictJson } from "../strict-json.ts";

export interface JsonCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body?: string;
  readonly timeoutMs: number;
  /** Of the answer. */
  readonly maxBytes?: number;
  /** Cancels the call until its answer begins; then the service counts it as delivered, and it is read to its end. */
  readonly signal?: AbortSignal | undefined;
}

export type JsonAnswer = ReturnType<typeof toJsonAnswer>;

export type JsonClient = ReturnType<typeof openJsonClient>;

export const MAX_BYTES = 262_144;

/** @param maxSockets calls to one host at the same time; further ones wait */
export function openJsonClient(maxSockets = 64) {
  const plain = new http.Agent({ keepAlive: true, maxSockets });
  const secure = new https.Agent({ keepAlive: true, maxSockets });
  const open = new Set<http.ClientRequest>();
  let isClosed = false;

  function send({ method, url, headers, body }: JsonCall, timeout: AbortSignal): http.ClientRequest {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const options = { method, headers: requestHeaders({ ...headers, ...type }, body), signal: timeout };
    const request = url.startsWith("https:")
      ? https.request(url, { ...options, agent: secure })
      : http.request(url, { ...options, agent: plain });
    open.add(request);
    request.once("close", () => open.delete(request));
    return request;
  }

  /** @throws CallFailed without an answer */
  async function call(call: JsonCall): Promise<JsonAnswer> {
    if (isClosed) throw new CallFailed("the connections are closed");
    const timeout = AbortSignal.timeout(call.timeoutMs);
    const request = send(call, timeout);
    const cancel = () => request.destroy(new Error("cancelled", { cause: call.signal?.reason }));
    const stopListening = () => call.signal?.removeEventListener("abort", cancel);
    call.signal?.addEventListener("abort", cancel);
    request.once("response", stopListening);
    try {
      const answer = exchange(request, call.body, call.maxBytes ?? MAX_BYTES);
      if (call.signal?.aborted) cancel();
      return toJsonAnswer(await answer);
    } catch (error) {
      throw callFailed(call, error, timeout);
    } finally {
      stopListening();
    }
  }

  return {
    call,
    /** Cancels every call, also those that are made later. */
    close: (): void => {
      isClosed = true;
      for (const request of open) request.destroy(new Error("the connections are closed"));
      plain.destroy();
      secure.destroy();
    },
  };
}

/** Whether a call failed because its own signal was aborted for this reason. */
export const wasCancelled = (error: unknown, reason: unknown): boolean =>
  error instanceof CallFailed && error.cause instanceof Error && error.cause.cause === reason;

const toJsonAnswer = ({ status, headers, retryAfter, body }: HttpAnswer) => ({
  status,
  body: parseObject(body.toString("utf8")),
  retryAfter,
  location: headers.location,
});

/** Undefined when the text is empty or not a JSON object. */
function parseObject(text: string): JsonObject | undefined {
  try {
    const value = parseStrictJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
