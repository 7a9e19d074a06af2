/**
 * `Idempotency-Key` on POST (wire-contract.md §5): for a day the same answer again, without the secrets that it showed.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import type { FastifyRequest } from "fastify";
import type { Clock } from "../../core/clock.ts";
import type { KeptAnswer } from "../../core/idempotency/idempotency.store.ts";
import { onlyOnce, RequestNotRepeatable } from "../../core/idempotency/idempotency.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/caller.ts";
import type { Database } from "../../db/open.ts";
import { ApiError, malformed } from "../../http/api/api-error.ts";
import type { Answer, ApiDoor } from "../../http/api/api-route.ts";

export type IdempotentDoor = ApiDoor<SystemAccountCaller, Database>;

/** Gives a door's POSTs their memory. */
export function withIdempotency(
  deps: { readonly database: Database; readonly clock: Clock },
  door: ApiDoor<SystemAccountCaller>,
): IdempotentDoor {
  return {
    ...door,
    repeat: async ({ organisation, account }, request, raw, run) => {
      const key = keyOf(request);
      if (key === undefined) return run();
      const named = {
        orgId: organisation.id,
        accountId: account.id,
        keyHash: sha256Base64url(key),
        requestHash: sha256Base64url(
          Buffer.concat([Buffer.from(`${request.method} ${request.raw.url ?? ""}\n`), raw]),
        ),
      };
      const outcome = await onlyOnce(deps, named, run, toKeep).catch((error: unknown) => {
        throw error instanceof RequestNotRepeatable ? refusal(error) : error;
      });
      return "first" in outcome ? outcome.first : again(outcome.kept);
    },
  };
}

/** @throws ApiError 400 */
function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw malformed("Idempotency-Key must be 1 to 255 printable characters without spaces.");
}

function toKeep({ status, body, headers = {}, shownOnce = [] }: Answer): KeptAnswer {
  if (body === undefined) return { status, headers, body: undefined };
  const hidden = Object.fromEntries(shownOnce.map((name) => [name, null]));
  return { status, headers, body: JSON.stringify({ ...(body as object), ...hidden }) };
}

const again = ({ status, headers, body }: KeptAnswer): Answer => ({
  status,
  headers: { ...headers, "idempotency-replayed": "true" },
  ...(body === undefined ? {} : { body: JSON.parse(body) as unknown }),
});

function refusal({ code }: RequestNotRepeatable): ApiError {
  if (code === "under-way")
    return new ApiError(409, "under-way", "The first request with this Idempotency-Key is under way", {
      retryAfterSeconds: 1,
    });
  return new ApiError(422, "key-reused", "This Idempotency-Key was used for another request", {
    errors: [{ path: "Idempotency-Key", message: "names another request" }],
  });
}
