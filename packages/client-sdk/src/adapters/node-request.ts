/**
 * Converts requests of Node's `http`, `https` and `http2` to Web `Request`s, and Web `Response`s back.
 *
 * @module node
 */
import { privateCacheControl } from "../cookies/cookie-header.ts";
import { SignetError } from "../errors.ts";
import type { Filter, FilterResult } from "../filter.ts";
import { bodyStreamOf, type NodeBody } from "./node-body.ts";

export type { NodeBody } from "./node-body.ts";

/** The used part of `IncomingMessage`. */
export interface NodeRequest extends NodeBody {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly httpVersionMajor: number;
  readonly socket: object;
}

/** The used part of `ServerResponse`. */
export interface NodeResponse {
  statusCode: number;
  /** Whether it is too late for another response. */
  readonly headersSent?: boolean;
  /** Sets a header. */
  setHeader(name: string, value: string | readonly string[]): unknown;
  /** Returns a header set before. */
  getHeader(name: string): unknown;
  /** Sends the response. */
  end(body?: Uint8Array): unknown;
}

/** Options of the adapters for Node. */
export interface NodeAdapterOptions {
  /**
   * The application's public origin, as in the configuration, used for the filter's `Request`. Never taken from the `Host`
   * header, which the caller controls. Default: a placeholder.
   */
  readonly baseUrl?: string;
  /** Maximum size of a body the filter reads; larger ones get 413. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * DER of the client certificate, if a proxy terminates TLS: from a header that the proxy always sets or removes, so that
   * clients can't set it. Default: the certificate of the TLS connection.
   */
  readonly clientCertificate?: (request: NodeRequest) => Uint8Array | undefined;
}

/** RFC 2606 §2: never a real host. */
const PLACEHOLDER_ORIGIN = "http://application.invalid";
const DEFAULT_MAX_BODY_BYTES = 1024 * 1024;
const METHODS_WITHOUT_BODY: readonly string[] = ["GET", "HEAD"];

/**
 * The request as a Web `Request`. Its body is read only when the filter reads it, and then put back.
 * @param path path and query, if the framework changes `url` for mounted handlers (`originalUrl`)
 * @throws SignetError `request_malformed` for what a Web Request can't represent: TRACE, CONNECT, a malformed path
 */
export function webRequestOf(request: NodeRequest, options: NodeAdapterOptions = {}, path?: string): Request {
  const method = request.method ?? "GET";
  const headers = toHeaders(request.rawHeaders);
  try {
    const url = toUrl(path ?? request.url ?? "/", options.baseUrl);
    if (METHODS_WITHOUT_BODY.includes(method) || !mayHaveBody(request, headers))
      return new Request(url, { method, headers });
    const body = bodyStreamOf(request, options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES);
    // Required by the fetch standard for streamed bodies; missing in the types of some platforms.
    const init: RequestInit & { duplex: "half" } = { method, headers, body, duplex: "half" };
    return new Request(url, init);
  } catch (cause) {
    throw new SignetError("request_malformed", "The request can't be read.", { cause });
  }
}

/** Appended to our origin, not resolved against it: `//evil.example/x` would resolve to another host (RFC 9112 §3.2.2). */
function toUrl(target: string, baseUrl: string | undefined): string {
  const { origin } = new URL(baseUrl ?? PLACEHOLDER_ORIGIN);
  if (target === "*") return `${origin}/`;
  const local = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#\\]*/i, "");
  if (!/^(?:[/?]|$)/.test(local)) throw new Error("a request target without a path");
  if (isAmbiguous(local)) throw new Error("a request target that routers and `URL` interpret differently");
  return origin + (local.startsWith("/") ? local : `/${local}`);
}

/** What `URL` resolves but routers don't: a signature or proof for one URL would be valid for the handler of another. */
function isAmbiguous(target: string): boolean {
  const [path = ""] = target.split("?", 1);
  return target.includes("#") || path.includes("\\") || /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}

/** From the raw headers: Node's `headers` drop duplicates, and a second Authorization must not go unnoticed. */
function toHeaders(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  const cookies: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (name.toLowerCase() === "cookie") cookies.push(value);
    // HTTP/2 pseudo-headers are skipped.
    else if (!name.startsWith(":")) headers.append(name, value);
  }
  // RFC 9113 §8.2.3: several Cookie headers form one list with its own separator.
  if (cookies.length > 0) headers.set("cookie", cookies.join("; "));
  return headers;
}

/** RFC 9112 §6. With HTTP/2 a body needs no header. */
function mayHaveBody({ httpVersionMajor, complete, readableLength }: NodeRequest, headers: Headers): boolean {
  const length = headers.get("content-length");
  if (length !== null) return Number(length) > 0;
  return headers.has("transfer-encoding") || (httpVersionMajor >= 2 && (!complete || readableLength > 0));
}

/** DER of the client certificate proven in the TLS handshake (RFC 8705 §3). */
export function certificateOfSocket({ socket }: NodeRequest): Uint8Array | undefined {
  const { getPeerX509Certificate } = socket as {
    readonly getPeerX509Certificate?: () => { readonly raw: Uint8Array } | undefined;
  };
  return getPeerX509Certificate?.call(socket)?.raw;
}

/**
 * Authenticates a Node request. A request that a Web `Request` can't represent gets a response, not an exception.
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
    return { kind: "answer", response: new Response(error.description, { status: error.status }), error };
  }
  return filter.authenticate(web, { clientCertificate: clientCertificate(request) });
}

/** Adds each `Set-Cookie` as a separate header (RFC 6265 §3), and keeps the response out of shared caches by default. */
export function addCookies(response: NodeResponse, cookies: readonly string[]): void {
  if (cookies.length === 0) return;
  const previous = [response.getHeader("set-cookie") ?? []].flat().map(String);
  response.setHeader("set-cookie", [...previous, ...cookies]);
  const current = response.getHeader("cache-control");
  response.setHeader("cache-control", privateCacheControl(current === undefined ? current : String(current)));
}

/** Sends the filter's response, keeping headers that middleware has already set (CORS, cookies). */
export async function sendWebResponse(response: Response, to: NodeResponse): Promise<void> {
  const body = response.body === null ? undefined : new Uint8Array(await response.arrayBuffer());
  to.statusCode = response.status;
  for (const [name, value] of response.headers) if (name !== "set-cookie") to.setHeader(name, value);
  addCookies(to, response.headers.getSetCookie());
  to.end(body);
}
