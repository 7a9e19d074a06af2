/** Every call that the SDK makes goes through here: short, small, without redirects, and encrypted (RFC 9700 §2.6). */
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { isRecord } from "../tokens/claims.ts";
import { isAcceptableAddress } from "./acceptable-address.ts";

/** For the whole call, body included. */
const TIMEOUT_MS = 5_000;
/** After decompression. */
const MAX_BODY_BYTES = 256 * 1024;

/** An answer of any status. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; undefined when there is no body, or when an answer other than 2xx is not JSON. */
  readonly body: unknown;
}

/** A call, beside its address. */
export interface HttpRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Ends the call earlier than the SDK would. */
  readonly signal?: AbortSignal;
}

/**
 * Any status is an answer, see `providerFault`. Both throw `SignetError`: `provider_unreachable` (no connection, or too late),
 * `provider_answer` (a redirect, too large, not JSON, an address without encryption).
 */
export interface Http {
  /** GET, or as `request` says; the answer is JSON of any status. */
  json(url: string, request?: HttpRequest): Promise<HttpAnswer>;
  /** POST of an `application/x-www-form-urlencoded` body. Members that are undefined are left out. */
  form(
    url: string,
    form: Readonly<Record<string, string | undefined>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<HttpAnswer>;
}

/**
 * What every call of the SDK goes through: 5 s and 256 KiB at most, no redirects, JSON. Plain http is for loopback hosts only, and
 * outside `production` for any.
 */
export function createHttp(
  runtime: Pick<Runtime, "fetch">,
  {
    environment,
    maxBodyBytes = MAX_BODY_BYTES,
  }: {
    readonly environment: string;
    /** For lists, which are longer than documents and tokens. */
    readonly maxBodyBytes?: number;
  },
): Http {
  const json = async (url: string, request: HttpRequest = {}): Promise<HttpAnswer> => {
    if (!isAcceptableAddress(url, environment))
      throw new SignetError("provider_answer", "The provider has an address without encryption.");
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const signal = request.signal ? AbortSignal.any([limit, request.signal]) : limit;
    // Looked up at each call: instrumentation may replace the global one after this was made.
    const response = await reach(url, signal, () =>
      (runtime.fetch ?? fetch)(url, {
        method: request.method ?? "GET",
        headers: { accept: "application/json", ...request.headers },
        ...(request.body === undefined ? {} : { body: request.body }),
        redirect: "manual",
        signal,
      }),
    );
    return answerOf(response, url, signal, maxBodyBytes);
  };
  return {
    json,
    form: (url, form, headers = {}) =>
      json(url, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        body: new URLSearchParams(Object.entries(form).flatMap(asPair)).toString(),
      }),
  };
}

function asPair([name, value]: [string, string | undefined]): [string, string][] {
  return value === undefined ? [] : [[name, value]];
}

/** What an answer that is not the one hoped for means; `what` names the call, e.g. `the token endpoint`. */
export function providerFault({ status, body }: HttpAnswer, what: string): SignetError {
  if (status >= 500 || status === 429)
    return new SignetError("provider_unreachable", `The provider cannot answer now (${what}, ${status}).`);
  if (status >= 400 && isRecord(body) && typeof body["error"] === "string") {
    const told = `${body["error"]}: ${String(body["error_description"] ?? "")}`;
    const cause = new Error(told.slice(0, 500).replace(/[^\x20-\x7e]/g, "?"));
    const message = `The provider refused (${what}).`;
    return new SignetError("provider_refused", message, { oauthError: oauthErrorName(body["error"]), cause });
  }
  return new SignetError("provider_answer", `The provider's answer is not as expected (${what}, ${status}).`);
}

/** RFC 6749 §5.2: other characters, or more of them than a name has, are not passed on into answers and logs. */
export function oauthErrorName(error: string): string {
  return /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(error) ? error : "invalid";
}

async function answerOf(
  response: Response,
  url: string,
  signal: AbortSignal,
  maxBodyBytes: number,
): Promise<HttpAnswer> {
  const { status, headers } = response;
  // A redirect could lead a secret to another host; where the platform hides it, its status is 0.
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400) || status === 0) {
    await response.body?.cancel();
    throw new SignetError("provider_answer", "The provider redirects a call that is not to be redirected.");
  }
  const bytes = await bodyOf(response, url, signal, maxBodyBytes);
  if (bytes.length === 0) return { status, headers, body: undefined };
  const isJson = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(headers.get("content-type") ?? "");
  const body = isJson ? parsed(bytes) : undefined;
  if (body === undefined && response.ok)
    throw new SignetError("provider_answer", "The provider's answer is not JSON.");
  return { status, headers, body };
}

async function bodyOf(
  response: Response,
  url: string,
  signal: AbortSignal,
  maxBodyBytes: number,
): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (reader) {
    const { done, value } = await reach(url, signal, () => reader.read());
    if (done) break;
    length += value.length;
    if (length > maxBodyBytes) {
      await reader.cancel();
      throw new SignetError("provider_answer", "The provider's answer is too large.");
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Waits no longer than the signal says, even for a `fetch` that does not heed it. */
async function reach<T>(url: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  let stop: (() => void) | undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([call(), stopped]);
  } catch (cause) {
    throw new SignetError("provider_unreachable", "The provider cannot be reached.", {
      cause: withoutQuery(cause, url),
    });
  } finally {
    if (stop) signal.removeEventListener("abort", stop);
  }
}

/** Deno and Bun write the address into their errors, and the legacy API takes session keys in its query. */
function withoutQuery(cause: unknown, url: string): unknown {
  const { search } = new URL(url);
  if (search === "") return cause;
  const behind = cause instanceof Error && cause.cause !== undefined ? `: ${String(cause.cause)}` : "";
  return new Error(`${String(cause)}${behind}`.replaceAll(search, ""));
}
