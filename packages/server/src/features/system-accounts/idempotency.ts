/** `Idempotency-Key` on POST (wire-contract.md §5): replays the response for a day, without its secrets. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Clock } from "../../core/clock.ts";
import type { StoredAnswer } from "../../core/idempotency/idempotency.store.ts";
import { IdempotencyConflict, runIdempotent } from "../../core/idempotency/idempotency.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/system-account.ts";
import type { Database } from "../../db/open.ts";
import { ApiError, malformed } from "../../http/api/api-error.ts";
import type { Answer, ApiAuthenticator, ApiRequest } from "../../http/api/api-route.ts";

export type IdempotentAuthenticator = ApiAuthenticator<SystemAccountCaller, Database>;

/** Makes the POSTs of an authenticator idempotent. */
export function withIdempotency(
  deps: { readonly database: Database; readonly clock: Clock },
  authenticator: ApiAuthenticator<SystemAccountCaller>,
): IdempotentAuthenticator {
  return {
    ...authenticator,
    repeat: async ({ organisation, account }, request, raw, run) => {
      const key = readIdempotencyKey(request);
      if (key === undefined) return run();
      const idempotent = {
        orgId: organisation.id,
        accountId: account.id,
        keyHash: sha256Base64url(key),
        requestHash: sha256Base64url(
          Buffer.concat([Buffer.from(`${request.method} ${request.raw.url ?? ""}\n`), raw]),
        ),
      };
      const outcome = await runIdempotent(deps, idempotent, run, toStored).catch((error: unknown) => {
        throw error instanceof IdempotencyConflict ? toApiError(error) : error;
      });
      return "first" in outcome ? outcome.first : replayAnswer(outcome.stored);
    },
  };
}

/** @throws ApiError 400 */
function readIdempotencyKey({ headers }: ApiRequest): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw malformed("Idempotency-Key must be 1 to 255 printable characters without spaces.");
}

function toStored({ status, body, headers = {}, shownOnce = [] }: Answer): StoredAnswer {
  if (body === undefined) return { status, headers, body: undefined };
  const hidden = Object.fromEntries(shownOnce.map((name) => [name, null]));
  return { status, headers, body: JSON.stringify({ ...(body as object), ...hidden }) };
}

const replayAnswer = ({ status, headers, body }: StoredAnswer): Answer => ({
  status,
  headers: { ...headers, "idempotency-replayed": "true" },
  ...(body === undefined ? {} : { body: JSON.parse(body) as unknown }),
});

function toApiError({ code }: IdempotencyConflict): ApiError {
  if (code === "under-way")
    return new ApiError(409, "under-way", "The first request with this Idempotency-Key is still running", {
      retryAfterSeconds: 1,
    });
  return new ApiError(422, "key-reused", "This Idempotency-Key was used for another request", {
    errors: [{ path: "Idempotency-Key", message: "was used for another request" }],
  });
}
