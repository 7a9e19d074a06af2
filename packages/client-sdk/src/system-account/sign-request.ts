/** Requests signed by a system account: in the strict form, which nobody who sees one can send again. */
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import {
  hmacSignature,
  NONCE_HEADER,
  type StrictPart,
  type SystemAccountKeys,
  TIMESTAMP_HEADER,
  targetOf,
} from "./hmac.ts";

/** How a request is signed. */
export interface SignatureOptions extends Pick<Runtime, "clock"> {
  /**
   * True signs the body alone, for receivers that know nothing else: whoever sees such a request can send it again, and a
   * request without a body always has the same signature. Default false.
   */
  readonly plain?: boolean;
}

/** What of a request is signed. */
export interface SignedPart {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** Empty when there is none. */
  readonly body: Uint8Array;
}

/** The headers that make one request a signed one: `authorization` and, of the strict form, its timestamp and nonce. */
export async function signatureHeaders(
  { publicKey, secretKey }: SystemAccountKeys,
  { method, url, body }: SignedPart,
  { clock = Date.now, plain = false }: SignatureOptions = {},
): Promise<Record<string, string>> {
  const strict: StrictPart | undefined = plain
    ? undefined
    : {
        method: method.toUpperCase(),
        target: targetOf(url),
        timestamp: String(Math.floor(clock() / 1000)),
        nonce: crypto.randomUUID(),
      };
  const authorization = `${publicKey}:${await hmacSignature(secretKey, body, strict)}`;
  if (!strict) return { authorization };
  return { authorization, [TIMESTAMP_HEADER]: strict.timestamp, [NONCE_HEADER]: strict.nonce };
}

/**
 * A copy of the request with a system account's signature, to be sent once and unchanged: for your own APIs behind
 * `systemAccountExternal`. The service's own API has `managementClient` and `legacyApiClient`.
 *
 * A signature does not name the host, so that a receiver could pass the request on to another one that knows the same keys:
 * use a pair of keys of its own for each receiver.
 *
 * @param request its body is read whole
 * @throws SignetError `request_malformed` when its body has been read before
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
  const { method } = request;
  const url = addressOf(request);
  const headers = new Headers(request.headers);
  // `Request` calls a text that was given without a type text/plain; the specification wants JSON.
  if (body.length > 0 && (headers.get("content-type") ?? "text/plain").startsWith("text/plain"))
    headers.set("content-type", "application/json");
  const signed = await signatureHeaders(keys, { method, url, body }, options);
  for (const [name, value] of Object.entries(signed)) headers.set(name, value);
  // A redirect would show the signature to another address, or carry it there with the nonce used up.
  const init: RequestInit = { method, headers, redirect: "manual", signal: request.signal };
  return new Request(url, body.length > 0 ? { ...init, body } : init);
}

/** Some platforms send a `?` with nothing behind it, and some do not: without it both sign and send the same. */
function addressOf(request: Request): string {
  const url = new URL(request.url);
  if (url.search === "") url.search = "";
  url.hash = "";
  return url.href;
}
