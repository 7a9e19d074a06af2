/** Signs requests as a system account, in the strict form, which can't be replayed. */
import { NONCE_HEADER, type StrictPart, TIMESTAMP_HEADER } from "@signet/protocol/hmac-headers";
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { requestTarget, type SystemAccountKeys, signHmac } from "./hmac.ts";

/** How a request is signed. */
export interface SignatureOptions extends Pick<Runtime, "clock"> {
  /**
   * Signs the body alone, for receivers without support for the strict form. Such a request can be replayed, and all requests
   * without a body have the same signature. Default false.
   */
  readonly plain?: boolean;
}

/** The signed parts of a request. */
export interface SignedPart {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** Empty without a body. */
  readonly body: Uint8Array;
}

/** The headers that sign one request: `authorization` and, in the strict form, timestamp and nonce. */
export async function signatureHeaders(
  { publicKey, secretKey }: SystemAccountKeys,
  { method, url, body }: SignedPart,
  { clock = Date.now, plain = false }: SignatureOptions = {},
): Promise<Record<string, string>> {
  if (plain) return { authorization: `${publicKey}:${await signHmac(secretKey, body)}` };
  const strict: StrictPart = {
    method: method.toUpperCase(),
    target: requestTarget(url),
    timestamp: String(Math.floor(clock() / 1000)),
    nonce: crypto.randomUUID(),
  };
  const authorization = `${publicKey}:${await signHmac(secretKey, body, strict)}`;
  return { authorization, [TIMESTAMP_HEADER]: strict.timestamp, [NONCE_HEADER]: strict.nonce };
}

/**
 * A signed copy of the request, to be sent once and unchanged: for your own APIs behind `systemAccountExternal`. For the
 * service's own APIs use `managementClient` and `legacyApiClient`.
 *
 * A signature doesn't cover the host, so that a receiver could forward the request to another one with the same keys: use a
 * separate key pair for each receiver.
 * @param request its body is read completely
 * @throws SignetError `request_malformed` if its body has already been read
 * @example
 * const request = new Request("https://stock.example.com/orders", { method: "POST", body: JSON.stringify(order) });
 * const response = await fetch(await signRequest(request, { publicKey, secretKey }));
 */
export async function signRequest(
  request: Request,
  keys: SystemAccountKeys,
  options: SignatureOptions = {},
): Promise<Request> {
  if (request.bodyUsed)
    throw new SignetError("request_malformed", "The body was read before it could be signed.");
  const body = new Uint8Array(await request.arrayBuffer());
  const { method, signal } = request;
  const url = canonicalUrl(request);
  const headers = new Headers(request.headers);
  // `Request` defaults to text/plain for strings; the specification requires JSON.
  if (body.length > 0 && (headers.get("content-type") ?? "text/plain").startsWith("text/plain"))
    headers.set("content-type", "application/json");
  const signed = await signatureHeaders(keys, { method, url, body }, options);
  for (const [name, value] of Object.entries(signed)) headers.set(name, value);
  // A redirect would disclose the signature to another URL, or use up its nonce.
  const init: RequestInit = { method, headers, redirect: "manual", signal };
  return new Request(url, body.length > 0 ? { ...init, body } : init);
}

/** Without an empty `?`, which only some platforms send. */
function canonicalUrl(request: Request): string {
  const url = new URL(request.url);
  if (url.search === "") url.search = "";
  url.hash = "";
  return url.href;
}
