/** Verifies requests signed by a system account, for receivers that know its secret key. */
import {
  MAX_SKEW_SECONDS,
  NONCE_HEADER,
  NONCE_MAX_LENGTH,
  parseSystemAccountHeader,
  type StrictPart,
  TIMESTAMP_HEADER,
} from "@signet/protocol/hmac-headers";
import { callApplication } from "../application-callbacks.ts";
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { readRequestBody } from "../read-body.ts";
import { requestTarget, verifyHmac } from "./hmac.ts";

/** Whose signatures are accepted, and in which form. */
export interface ReceiverOptions extends Pick<Runtime, "clock"> {
  /** The secret key of a public key (a lower-case UUID); undefined if unknown or not allowed. */
  readonly secretKeyOf: (publicKey: string) => Promise<string | undefined> | string | undefined;
  /** Default: in this process. */
  readonly nonces?: NonceMemory;
  /** Also accepts signatures of the body alone, which anyone who sees them can replay, to any path. Default false. */
  readonly acceptPlain?: boolean;
  /** Default 1 MiB. */
  readonly maxBodyBytes?: number;
}

/** The signer of a request. */
export interface VerifiedCaller {
  readonly publicKey: string;
  /** The signed bytes. */
  readonly body: Uint8Array;
}

/** What `createRequestVerifier` returns. */
export type RequestVerifier = (request: Request) => Promise<VerifiedCaller>;

const DEFAULT_MAX_BODY_BYTES = 1024 * 1024;
/** As long as a real key, so that the time doesn't reveal unknown ones. */
const DUMMY_KEY = `sgn_sa_${"0".repeat(43)}`;

/**
 * Verifies signatures for receivers without a filter.
 * @returns a function that reads a copy of the body, so that a handler can still read it. It throws `SignetError`:
 * `token_missing` without a signature, `request_malformed` for a body that is too large (413) or was already read, and
 * `signature` otherwise, with the reason only in `cause`.
 * @example
 * const verify = createRequestVerifier({ secretKeyOf: (publicKey) => secrets.get(publicKey) });
 * const { publicKey, body } = await verify(request);
 */
export function createRequestVerifier(options: ReceiverOptions): RequestVerifier {
  const { secretKeyOf, acceptPlain = false, clock = Date.now } = options;
  const { nonces = createNonceMemory({ clock }), maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options;
  return async (request) => {
    const { headers } = request;
    const presented = parseSystemAccountHeader(headers.get("authorization"));
    if (!presented) {
      if (headers.has("authorization")) throw invalid("the Authorization header has another format");
      throw new SignetError("token_missing", "The request is not signed.");
    }
    const { publicKey, signature } = presented;
    const strict = readStrictPart(request);
    if (!strict && !acceptPlain) throw invalid("the strict form is required");
    if (hasHiddenBody(request)) throw invalid("a GET request with a body, which no signature can cover");
    const body = await copyBody(request, maxBodyBytes);
    const secretKey = await callApplication("The secret key store", () => secretKeyOf(publicKey));
    const isSigned = await verifyHmac(signature, secretKey || DUMMY_KEY, body, strict);
    if (!secretKey) throw invalid("unknown public key");
    if (!isSigned) throw invalid("wrong signature");
    // Last, so that only signed requests use up a nonce.
    if (strict) await requireFreshNonce(publicKey, strict, nonces, clock() / 1000);
    return { publicKey, body };
  };
}

const invalid = (reason: string) =>
  new SignetError("signature", "The request is not authenticated.", { cause: new Error(reason) });

/** Undefined without both headers. @throws SignetError if only one is present, or malformed */
function readStrictPart(request: Request): StrictPart | undefined {
  const timestamp = request.headers.get(TIMESTAMP_HEADER);
  const nonce = request.headers.get(NONCE_HEADER);
  if (timestamp === null && nonce === null) return undefined;
  if (timestamp === null || !/^[0-9]{1,12}$/.test(timestamp)) throw invalid("timestamp missing or malformed");
  if (nonce === null || nonce === "" || nonce.length > NONCE_MAX_LENGTH)
    throw invalid("nonce missing or malformed");
  return { method: request.method.toUpperCase(), target: requestTarget(request.url), timestamp, nonce };
}

async function requireFreshNonce(
  publicKey: string,
  { timestamp, nonce }: StrictPart,
  nonces: NonceMemory,
  now: number,
): Promise<void> {
  const seconds = Number(timestamp);
  if (Math.abs(seconds - now) > MAX_SKEW_SECONDS) throw invalid("timestamp out of range");
  // One second longer than accepted, as a margin for rounding.
  const until = (seconds + MAX_SKEW_SECONDS + 1) * 1000;
  const isFirst = await callApplication("The nonce memory", () => nonces.use(`${publicKey}|${nonce}`, until));
  if (!isFirst) throw invalid("the nonce was used before");
}

/** A Web `Request` hides the body of GET and HEAD, but Node's body parsers read it: it would be unsigned. */
function hasHiddenBody({ method, headers }: Request): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  return headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) !== 0;
}

/** @throws SignetError `request_malformed` */
async function copyBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed)
    throw new SignetError("request_malformed", "The body was read before its signature could be checked.", {
      status: 500,
    });
  const body = await readRequestBody(request.clone(), maxBytes);
  if (body !== undefined) return body;
  throw new SignetError("request_malformed", "The body is too large.", { status: 413 });
}

/**
 * Several instances of an application need a shared one: a table or cache with a unique key and an expiry. The in-process default
 * forgets everything at a restart, so that requests of the last five minutes could be replayed.
 */
export interface NonceMemory {
  /**
   * Stores a nonce. Only called for valid signatures.
   * @param name key pair and nonce
   * @param expiresAt milliseconds since the epoch, after which the nonce may be forgotten
   * @returns whether the nonce is new, determined and stored in one atomic step
   */
  use(name: string, expiresAt: number): Promise<boolean>;
}

/**
 * An in-process memory, the default of the filter.
 * @param most maximum number of nonces; when full of valid ones, further requests are rejected (`signature`, 503) rather than a
 * nonce forgotten
 */
export function createNonceMemory({
  clock = Date.now,
  most = 100_000,
}: {
  readonly clock?: () => number;
  readonly most?: number;
} = {}): NonceMemory {
  const expiries = new Map<string, number>();
  return {
    use: async (name, expiresAt) => {
      const now = clock();
      const until = expiries.get(name);
      if (until !== undefined && until > now) return false;
      if (expiries.size >= most)
        for (const [key, expiry] of expiries) if (expiry <= now) expiries.delete(key);
      if (expiries.size >= most)
        throw new SignetError("signature", "Too many signed requests. Retry later.", { status: 503 });
      expiries.set(name, expiresAt);
      return true;
    },
  };
}
