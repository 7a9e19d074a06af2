/** `Idempotency-Key` on POST (wire-contract.md §5): the header, what is kept of an answer, and how it is given again. */
import { sha256Base64url } from "@signet/protocol/hash";
import { ApiError, malformed } from "./api-error.ts";
import type { Answer, ApiRequest } from "./api-route.ts";

/** @throws ApiError 400 */
export function readIdempotencyKey({ headers }: ApiRequest): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw malformed("Idempotency-Key must be 1 to 255 printable characters without spaces.");
}

/** Of the address and the body, byte for byte. */
export const requestHash = ({ method, raw: { url = "" } }: ApiRequest, body: Buffer): string =>
  sha256Base64url(Buffer.concat([Buffer.from(`${method} ${url}\n`), body]));

/**
 * The same of a request that may carry a password: the client's key, of which only a digest is kept, goes in, so that what is kept is
 * nothing to guess a password by.
 */
export const keyedRequestHash = (key: string, request: ApiRequest, body: Buffer): string =>
  sha256Base64url(`${key} ${requestHash(request, body)}`);

interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; undefined for a response without a body. */
  readonly body: string | undefined;
}

/** Without what is shown once. */
export function answerToKeep({ status, body, headers = {}, shownOnce = [] }: Answer): KeptAnswer {
  if (body === undefined) return { status, headers, body: undefined };
  const hidden = Object.fromEntries(shownOnce.map((name) => [name, null]));
  return { status, headers, body: JSON.stringify({ ...(body as object), ...hidden }) };
}

export const replayedAnswer = ({ status, headers, body }: KeptAnswer): Answer => ({
  status,
  headers: { ...headers, "idempotency-replayed": "true" },
  ...(body === undefined ? {} : { body: JSON.parse(body) as unknown }),
});

export function idempotencyRefusal(code: "another-request" | "under-way"): ApiError {
  if (code === "under-way")
    return new ApiError(409, "under-way", "The first request with this Idempotency-Key is still running", {
      retryAfterSeconds: 1,
    });
  return new ApiError(422, "key-reused", "This Idempotency-Key was used for another request", {
    errors: [{ path: "Idempotency-Key", message: "was used for another request" }],
  });
}
