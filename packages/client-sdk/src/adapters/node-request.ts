/**
 * A Web `Request` of a request of Node's `http`, `https` and `http2`, and the answer in the other direction.
 *
 * @module node
 */
import { cacheControlWithCookies } from "../cookies/cookie-header.ts";
import { SignetError } from "../errors.ts";
import type { Filter, FilterResult } from "../filter.ts";
import { bodyStreamOf, type NodeBody } from "./node-body.ts";

export type { NodeBody } from "./node-body.ts";

/** What is used of `IncomingMessage`. */
export interface NodeRequest extends NodeBody {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly httpVersionMajor: number;
  readonly socket: object;
}

/** What is used of `ServerResponse`. */
export interface NodeResponse {
  statusCode: number;
  /** A field of the answer. */
  setHeader(name: string, value: string | readonly string[]): unknown;
  /** What was set before. */
  getHeader(name: string): unknown;
  /** Answers. */
  end(body?: Uint8Array): unknown;
}

/** What the adapters for Node may be told. */
export interface NodeAdapterOptions {
  /**
   * The application's own public address, as in the configuration: the origin of the `Request` that the filter gets. It is
   * never taken from a `Host` header, which the caller writes. Without it the origin is one that leads nowhere.
   */
  readonly baseUrl?: string;
  /** The most that a filter reads of a body; larger ones are refused with 413. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * DER of the caller's certificate, where the application stands behind a proxy that speaks TLS for it: from a header that
   * the proxy always sets or removes, so that no caller can write it. Default: what the TLS connection itself has proven.
   */
  readonly clientCertificate?: (request: NodeRequest) => Uint8Array | undefined;
}

/** RFC 2606 §2: never somebody's address. */
const NOWHERE = "http://application.invalid";
const DEFAULT_MAX_BODY_BYTES = 1024 * 1024;
const WITHOUT_BODY: readonly string[] = ["GET", "HEAD"];

/**
 * The same request for a filter. Its body is read only when the filter reads it, and put back then.
 *
 * @param path path and query where the framework has changed `url` for a mounted handler (`originalUrl`)
 * @throws SignetError `request_malformed` for what no Web Request can be: TRACE, CONNECT, a broken path
 */
export function webRequestOf(request: NodeRequest, options: NodeAdapterOptions = {}, path?: string): Request {
  const method = request.method ?? "GET";
  const headers = headersOf(request.rawHeaders);
  try {
    const url = urlOf(path ?? request.url ?? "/", options.baseUrl);
    if (WITHOUT_BODY.includes(method) || !mayHaveBody(request, headers))
      return new Request(url, { method, headers });
    const body = bodyStreamOf(request, options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES);
    // RFC-like name of the fetch standard for "the body is a stream"; the types of some platforms do not know it yet.
    const init: RequestInit & { duplex: "half" } = { method, headers, body, duplex: "half" };
    return new Request(url, init);
  } catch (cause) {
    throw new SignetError("request_malformed", "The request cannot be read.", { cause });
  }
}

/**
 * Path and query behind our own origin. Written behind it and not resolved against it: resolved, `//evil.example/x` and
 * an absolute address (RFC 9112 §3.2.2) would bring a host of the caller's choice.
 */
function urlOf(target: string, baseUrl: string | undefined): string {
  const { origin } = new URL(baseUrl ?? NOWHERE);
  if (target === "*") return `${origin}/`;
  const local = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#\\]*/i, "");
  if (!/^(?:[/?]|$)/.test(local)) throw new Error("a request target without a path");
  if (isReadTwoWays(local)) throw new Error("a request target that routers and `URL` read in two ways");
  return origin + (local.startsWith("/") ? local : `/${local}`);
}

/**
 * What `URL` would resolve or drop, and routers do not: a signature or a proof (RFC 9449 §4.3) for one address would hold
 * for the handler of another. No client sends a fragment, a backslash or a segment of dots (RFC 9112 §3.2.1, RFC 3986 §3.3).
 */
function isReadTwoWays(target: string): boolean {
  const [path = ""] = target.split("?", 1);
  return target.includes("#") || path.includes("\\") || /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}

/** As they came: Node's own `headers` drop what comes twice, and a second Authorization must not go unseen. */
function headersOf(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  const cookies: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (name.toLowerCase() === "cookie") cookies.push(value);
    // Pseudo-headers of HTTP/2.
    else if (!name.startsWith(":")) headers.append(name, value);
  }
  // RFC 9113 §8.2.3: cookies in several fields are one list, with their own separator.
  if (cookies.length > 0) headers.set("cookie", cookies.join("; "));
  return headers;
}

/** RFC 9112 §6; with HTTP/2 a body needs no header. */
function mayHaveBody({ httpVersionMajor, complete, readableLength }: NodeRequest, headers: Headers): boolean {
  const length = headers.get("content-length");
  if (length !== null) return Number(length) > 0;
  return headers.has("transfer-encoding") || (httpVersionMajor >= 2 && (!complete || readableLength > 0));
}

/** DER of the certificate whose key the caller has proven in the TLS handshake (RFC 8705 §3). */
export function certificateOfSocket({ socket }: NodeRequest): Uint8Array | undefined {
  const { getPeerX509Certificate } = socket as {
    readonly getPeerX509Certificate?: () => { readonly raw: Uint8Array } | undefined;
  };
  return getPeerX509Certificate?.call(socket)?.raw;
}

/**
 * Asks the filter about a request of Node. A request that is no request for the Web is answered, not thrown.
 *
 * @param path as for `webRequestOf`
 * @example
 * createServer(async (request, response) => {
 *   const result = await authenticateNodeRequest(filter, request);
 *   if (result.kind === "answer") return sendWebResponse(result.response, response);
 *   addCookies(response, result.cookies);
 *   response.end(result.kind === "authenticated" ? result.principal.subject : "nobody");
 * });
 */
export async function authenticateNodeRequest(
  filter: Filter,
  request: NodeRequest,
  options: NodeAdapterOptions = {},
  path?: string,
): Promise<FilterResult> {
  const { clientCertificate = certificateOfSocket } = options;
  let web: Request;
  try {
    web = webRequestOf(request, options, path);
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    return { kind: "answer", response: new Response(error.message, { status: error.status }), error };
  }
  return filter.authenticate(web, { clientCertificate: clientCertificate(request) });
}

/**
 * Each `Set-Cookie` stays a field of its own (RFC 6265 §3); what others have set before stays. Such an answer is for no shared
 * cache, unless a handler says otherwise afterwards.
 */
export function addCookies(response: NodeResponse, cookies: readonly string[]): void {
  if (cookies.length === 0) return;
  const before = response.getHeader("set-cookie");
  const kept = before === undefined ? [] : [before].flat().map(String);
  response.setHeader("set-cookie", [...kept, ...cookies]);
  const given = response.getHeader("cache-control");
  response.setHeader("cache-control", cacheControlWithCookies(given === undefined ? given : String(given)));
}

/** The filter's own answer, over what middleware has put into the response before (CORS headers, cookies). */
export async function sendWebResponse(response: Response, to: NodeResponse): Promise<void> {
  const body = response.body === null ? undefined : new Uint8Array(await response.arrayBuffer());
  to.statusCode = response.status;
  for (const [name, value] of response.headers) if (name !== "set-cookie") to.setHeader(name, value);
  addCookies(to, response.headers.getSetCookie());
  to.end(body);
}
