/** `Idempotency-Key` on POST (wire-contract.md §5): replays the response for a day, without its secrets. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Clock } from "../../core/clock.ts";
import { IdempotencyConflict, runIdempotent } from "../../core/idempotency/idempotency.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/system-account.ts";
import type { Database } from "../../db/open.ts";
import type { ApiAuthenticator } from "../../http/api/api-route.ts";
import {
  answerToKeep,
  idempotencyRefusal,
  readIdempotencyKey,
  replayedAnswer,
  requestHash,
} from "../../http/api/idempotent-answer.ts";

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
        requestHash: requestHash(request, raw),
      };
      const outcome = await runIdempotent(deps, idempotent, run, answerToKeep).catch((error: unknown) => {
        throw error instanceof IdempotencyConflict ? idempotencyRefusal(error.code) : error;
      });
      return "first" in outcome ? outcome.first : replayedAnswer(outcome.stored);
    },
  };
}
