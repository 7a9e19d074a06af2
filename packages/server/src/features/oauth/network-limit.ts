/** Limits of the requests that come from one network, or from one client, for endpoints that store a row for whoever asks. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { CoreDeps } from "../../core/core-deps.ts";
import {
  type Counted,
  countAttempt,
  networkPrefix,
  type RateLimit,
  RateLimited,
  rateLimitHeaders,
} from "../../core/rate-limits/rate-limits.ts";
import { addressOf } from "../../http/listeners/client-address.ts";

/**
 * @param what the requests, in the answer
 * @throws OAuthError temporarily_unavailable, 429, which says when to come again
 */
export const limitNetwork = (
  deps: CoreDeps,
  orgId: string,
  { limit, from, what }: { limit: RateLimit; from: Parameters<typeof addressOf>[0]; what: string },
): Promise<void> =>
  limitRequests(
    deps,
    orgId,
    [{ limit, subject: networkPrefix(addressOf(from)) }],
    `too many ${what} from this address`,
  );

/** @throws OAuthError temporarily_unavailable, 429, which says when to come again */
export async function limitRequests(
  deps: CoreDeps,
  orgId: string,
  counted: readonly Counted[],
  description: string,
): Promise<void> {
  try {
    await countAttempt(deps, orgId, counted);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    throw new OAuthError("temporarily_unavailable", description, {
      status: 429,
      retryAfterSeconds: error.retryAfterSeconds,
      headers: rateLimitHeaders(error),
    });
  }
}
