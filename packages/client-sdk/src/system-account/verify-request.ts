/** For receivers: whether a request is signed by a system account whose secret key they know. */
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { fromOutside } from "../from-outside.ts";
import {
  isHmacSignature,
  MOST_SKEW_SECONDS,
  NONCE_HEADER,
  type PresentedSignature,
  parseAuthorization,
  type StrictPart,
  TIMESTAMP_HEADER,
  targetOf,
} from "./hmac.ts";
import { createNonceMemory, type NonceMemory } from "./nonce-memory.ts";

/** Whose signatures hold, and in which form. */
export interface ReceiverOptions extends Pick<Runtime, "clock"> {
  /** The secret key of a public key (a UUID in lower case); undefined for one that is unknown or may not call. */
  readonly secretKeyOf: (publicKey: string) => Promise<string | undefined> | string | undefined;
  /** Default: one in this process. */
  readonly nonces?: NonceMemory;
  /**
   * True also accepts the form that covers the body alone, which anybody who sees it can send again, to any path. Default
   * false.
   */
  readonly acceptPlain?: boolean;
  /** Default 1 MiB. */
  readonly maxBodyBytes?: number;
}

/** Who has signed a request. */
export interface VerifiedCaller {
  readonly publicKey: string;
  /** The bytes that were signed. */
  readonly body: Uint8Array;
}

/** What `createRequestVerifier` makes. */
export type RequestVerifier = (request: Request) => Promise<VerifiedCaller>;

const DEFAULT_MAX_BODY_BYTES = 1024 * 1024;
/** As long as a real one, for the time that a look at an unknown key takes. */
const NO_KEY = `sgn_sa_${"0".repeat(43)}`;

/**
 * For receivers without a filter: what tells of one request whether it is signed, and by whom.
 *
 * @returns a function that reads a copy of the request's body, so that a handler finds it unread. It throws `SignetError`:
 * `token_missing` without a signature, `request_malformed` for a body that is too large (413) or was read before, and
 * `signature` for everything else, which tells a caller nothing of what was wrong; `cause` does.
 * @example
 * const verify = createRequestVerifier({ secretKeyOf: (publicKey) => secrets.get(publicKey) });
 * const { publicKey, body } = await verify(request);
 */
export function createRequestVerifier(options: ReceiverOptions): RequestVerifier {
  const { secretKeyOf, acceptPlain = false, clock = Date.now } = options;
  const { nonces = createNonceMemory({ clock }), maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options;
  return async (request) => {
    const { headers } = request;
    const presented = parseAuthorization(headers.get("authorization"));
    if (!presented) {
      if (headers.has("authorization")) throw refusal("the Authorization header has another form");
      throw new SignetError("token_missing", "The request is not signed.");
    }
    const strict = strictPartOf(request);
    if (!strict && !acceptPlain) throw refusal("the strict form is required");
    if (isBodyHidden(request)) throw refusal("a GET request with a body, which no signature can cover");
    const body = await bodyOf(request, maxBodyBytes);
    const secretKey = await fromOutside("The secret keys", () => secretKeyOf(presented.publicKey));
    // The signature is computed for unknown keys too, so that the time does not tell which are known.
    const isSigned = await isHmacSignature(presented.signature, secretKey || NO_KEY, body, strict);
    if (!secretKey) throw refusal("unknown public key");
    if (!isSigned) throw refusal("the signature does not hold");
    if (strict) await requireFirst(presented, strict, { nonces, clock });
    return { publicKey: presented.publicKey, body };
  };
}

const refusal = (why: string) =>
  new SignetError("signature", "The request is not authenticated.", { cause: new Error(why) });

/** Undefined without the two headers. @throws SignetError when one of them is missing or malformed */
function strictPartOf(request: Request): StrictPart | undefined {
  const timestamp = request.headers.get(TIMESTAMP_HEADER);
  const nonce = request.headers.get(NONCE_HEADER);
  if (timestamp === null && nonce === null) return undefined;
  if (timestamp === null || !/^[0-9]{1,12}$/.test(timestamp)) throw refusal("timestamp missing or malformed");
  if (nonce === null || nonce === "" || nonce.length > 128) throw refusal("nonce missing or malformed");
  return { method: request.method.toUpperCase(), target: targetOf(request.url), timestamp, nonce };
}

/** The nonce comes last: only a signed request uses one up. */
async function requireFirst(
  { publicKey }: PresentedSignature,
  { timestamp, nonce }: StrictPart,
  { nonces, clock }: { readonly nonces: NonceMemory; readonly clock: () => number },
): Promise<void> {
  const seconds = Number(timestamp);
  if (Math.abs(seconds - clock() / 1000) > MOST_SKEW_SECONDS) throw refusal("timestamp out of range");
  // Kept a little longer than it is good for, so that no rounding lets it be good once more.
  const until = (seconds + MOST_SKEW_SECONDS + 1) * 1000;
  const isFirst = await fromOutside("The memory of nonces", () => nonces.use(`${publicKey}|${nonce}`, until));
  if (!isFirst) throw refusal("the nonce was used before");
}

/** A Web `Request` has no body with these methods, but body parsers of Node read one: of it the signature would say nothing. */
function isBodyHidden({ method, headers }: Request): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  return headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) !== 0;
}

/** @throws SignetError: a caller that goes away is no fault of the program */
function brokenOff(cause: unknown): never {
  throw new SignetError("request_malformed", "The body was broken off.", { cause });
}

/** Of a copy. @throws SignetError `request_malformed` */
async function bodyOf(request: Request, most: number): Promise<Uint8Array> {
  if (request.bodyUsed)
    throw new SignetError("request_malformed", "The body was read before its signature could be checked.", {
      status: 500,
    });
  const reader = request.clone().body?.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (reader) {
    const { done, value } = await reader.read().catch(brokenOff);
    if (done) break;
    length += value.length;
    if (length > most) {
      // Not waited for: it ends when the other copy is read or dropped too.
      reader.cancel().catch(() => {});
      throw new SignetError("request_malformed", "The body is too large.", { status: 413 });
    }
    chunks.push(value);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
