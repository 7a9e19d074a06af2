/** HTTP client of the SDK: bounded in time and size, without redirects, encrypted (RFC 9700 §2.6). */
import { named } from "../configuration/properties.ts";
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { readBody } from "../read-body.ts";
import { isRecord, withoutUndefined } from "../tokens/claims.ts";

/** For the whole call, body included. */
const TIMEOUT_MS = 5_000;
/** After decompression. */
const MAX_BODY_BYTES = 256 * 1024;

/** A response of any status. */
export interface HttpAnswer {
  /** Method and URL, without its query, and the setting that they come from, for errors. */
  readonly request: string;
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; the text of a JWT. Undefined without a body, or if a response other than 2xx is neither. */
  readonly body: unknown;
}

/** Everything about a call except its URL. */
export interface HttpRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  /** Aborts the call before the SDK's own timeout. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Responses of any status are returned. Both methods throw `SignetError`: `provider_unreachable` (no connection, or timeout),
 * `provider_answer` (a redirect, too large, not JSON, an unencrypted URL).
 */
export interface Http {
  /** GET, or as `request` says. Expects JSON. */
  json(url: string, request?: HttpRequest): Promise<HttpAnswer>;
  /** POSTs an `application/x-www-form-urlencoded` body. Undefined members are left out. */
  form(
    url: string,
    form: Readonly<Record<string, string | undefined>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<HttpAnswer>;
}

/** Options of `createHttp`. */
export interface HttpOptions {
  readonly environment: string;
  readonly maxBodyBytes?: number;
  /** The setting that the URLs come from, as errors name it. */
  readonly setting?: string;
  /** A successful response is text, whatever its type. Default false: JSON, or a JWT. */
  readonly acceptsText?: boolean;
  /** Errors name the origin only: paths contain secrets. Default false. */
  readonly hidesPaths?: boolean;
}

/** Creates the SDK's HTTP client: JSON, at most 5 s and 256 KiB, no redirects; https, except for development. */
export function createHttp(runtime: Pick<Runtime, "fetch">, options: HttpOptions): Http {
  const { environment, maxBodyBytes = MAX_BODY_BYTES, setting, hidesPaths = false, acceptsText } = options;
  const hint = setting === undefined ? "" : ` Check ${setting}.`;
  const json = async (url: string, request: HttpRequest = {}): Promise<HttpAnswer> => {
    const name = `${request.method ?? "GET"} ${publicPart(url, hidesPaths)}`;
    const call: Call = { name, url, hint, hidesPaths };
    if (!isAllowedUrl(url, environment)) throw unusable(call, "The provider's URL is not encrypted (https).");
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
    const headers = { accept: "application/json", ...request.headers };
    const { method = "GET", body = null } = request;
    const init: RequestInit = { method, headers, body, redirect: "manual", signal };
    // The global is looked up per call: instrumentation may replace it at any time.
    const response = await orUnreachable(call, signal, () => (runtime.fetch ?? fetch)(url, init));
    return parseResponse(response, call, { signal, maxBodyBytes, acceptsText: acceptsText === true });
  };
  return {
    json,
    form: (url, form, headers = {}) =>
      json(url, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        body: new URLSearchParams(withoutUndefined(form)).toString(),
      }),
  };
}

/** The error for an unsuccessful response. @param endpoint e.g. `the token endpoint` */
export function providerError({ status, body, request }: HttpAnswer, endpoint: string): SignetError {
  const texts = (description: string) => [`${description} ${request}`, { description }] as const;
  if (status >= 500 || status === 429)
    return new SignetError(
      "provider_unreachable",
      ...texts(`The provider is unavailable (${endpoint}, ${status}).`),
    );
  if (status >= 400 && isRecord(body) && typeof body["error"] === "string") {
    const details = `${body["error"]}: ${String(body["error_description"] ?? "")}`;
    const oauthError = oauthErrorName(body["error"]);
    const [message, { description }] = texts(`The provider refused (${endpoint}).`);
    return new SignetError("provider_refused", `${message}${settingToCheck(oauthError)}`, {
      description,
      oauthError,
      cause: new Error(details.slice(0, 500).replace(/[^\x20-\x7e]/g, "?")),
    });
  }
  return new SignetError(
    "provider_answer",
    ...texts(`Unexpected response from the provider (${endpoint}, ${status}).`),
  );
}

/** Which setting an OAuth error is about (RFC 6749 §4.1.2.1, §5.2); empty for those that are about the user. */
export function settingToCheck(oauthError: string): string {
  const names = settingsOfErrors.get(oauthError);
  return names === undefined ? "" : ` ${oauthError}: check ${names.map(named).join(" and ")}.`;
}

const settingsOfErrors: ReadonlyMap<string, readonly string[]> = new Map([
  ["invalid_client", ["oauthClientId", "oauthClientSecret"]],
  ["unauthorized_client", ["oauthClientId"]],
  ["invalid_scope", ["oauthScopes"]],
]);

/** RFC 6749 §5.2. Other characters, or an implausible length, must not get into responses and logs. */
export function oauthErrorName(error: string): string {
  return /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(error) ? error : "invalid";
}

async function parseResponse(
  response: Response,
  call: Call,
  {
    signal,
    maxBodyBytes,
    acceptsText,
  }: { readonly signal: AbortSignal; readonly maxBodyBytes: number; readonly acceptsText: boolean },
): Promise<HttpAnswer> {
  const { status, headers } = response;
  // A redirect could take a secret to another host. Some platforms hide it behind status 0.
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400) || status === 0) {
    await response.body?.cancel();
    throw unusable(call, "The provider responded with a redirect.");
  }
  const reader = response.body?.getReader();
  const bytes = await readBody(
    reader && (() => orUnreachable(call, signal, () => reader.read())),
    maxBodyBytes,
  );
  if (bytes === undefined) {
    await reader?.cancel();
    throw unusable(call, "The provider's response is too large.");
  }
  if (bytes.length === 0) return { request: `${call.name}.${call.hint}`, status, headers, body: undefined };
  const isText = acceptsText && response.ok;
  const body = isText ? new TextDecoder().decode(bytes) : parseBody(bytes, headers.get("content-type") ?? "");
  if (body === undefined && response.ok) throw unusable(call, "The provider's response is not JSON.");
  return { request: `${call.name}.${call.hint}`, status, headers, body };
}

/** A signed response is a JWT (OpenID Connect Core §5.3.2, RFC 9701 §5). */
function parseBody(bytes: Uint8Array, type: string): unknown {
  if (/^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(type)) return parseJson(bytes);
  const isJwt = /^application\/(?:[\w.-]+\+)?jwt *(?:;|$)/i.test(type);
  return isJwt ? new TextDecoder().decode(bytes).trim() : undefined;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/** Honours the signal even for a `fetch` that ignores it. */
async function orUnreachable<T>(request: Call, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([call(), aborted]);
  } catch (cause) {
    const description = "The provider can't be reached.";
    throw new SignetError("provider_unreachable", `${description} ${request.name}.${request.hint}`, {
      description,
      cause: withoutSecrets(cause, request),
    });
  } finally {
    if (abort) signal.removeEventListener("abort", abort);
  }
}

/** A call, as its errors name it. */
interface Call {
  readonly name: string;
  readonly url: string;
  /** Which setting to check. */
  readonly hint: string;
  readonly hidesPaths: boolean;
}

const unusable = ({ name, hint }: Call, description: string) =>
  new SignetError("provider_answer", `${description} ${name}.${hint}`, { description });

/** The legacy API has session keys in its query, and in its paths. */
function publicPart(url: string, hidesPaths: boolean): string {
  if (!URL.canParse(url)) return "an invalid URL";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${hidesPaths ? "" : pathname}`;
}

/** Deno, Bun and proxies include the URL in their errors, or parts of it. */
function withoutSecrets(cause: unknown, { url, hidesPaths }: Call): unknown {
  const { search, pathname } = new URL(url);
  const secrets = [search, hidesPaths ? pathname : ""].filter((part) => part.length > 1);
  if (secrets.length === 0) return cause;
  const inner = cause instanceof Error && cause.cause !== undefined ? `: ${String(cause.cause)}` : "";
  let text = `${String(cause)}${inner}`;
  for (const secret of secrets) text = text.replaceAll(secret, "");
  return new Error(text);
}

/** Absolute, without credentials or fragment, and encrypted (http: loopback, RFC 8252 §8.3, or outside `production`). */
export function isAllowedUrl(url: string, environment: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password, hash, protocol, hostname } = new URL(url);
  if (username !== "" || password !== "" || hash !== "") return false;
  if (protocol === "https:") return true;
  return protocol === "http:" && (environment !== "production" || isLoopback(hostname));
}

/** Of an application that is developed on this machine. */
export const isLoopbackUrl = (url: string): boolean => URL.canParse(url) && isLoopback(new URL(url).hostname);

/** RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3; as `URL.hostname` normalises them. */
function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]") return true;
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}
