/** Rate limits of emailed links: for each network, and for each mailbox. */
import {
  countAttempt,
  networkPrefix,
  RateLimited,
  rateLimitHeaders,
} from "../../../core/rate-limits/rate-limits.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";

/**
 * Counts a request, whether or not the address has an account.
 * @param mailbox identifies the recipient
 * @returns undefined, or how long to wait; the response headers are set
 */
export async function countMailRequest(
  deps: BrowserDeps,
  { organisation, request, reply }: Visit,
  mailbox: string,
): Promise<{ retryAfterSeconds: number } | undefined> {
  try {
    await countAttempt(deps, organisation.id, [
      { limit: deps.rateLimits["recovery-address"], subject: networkPrefix(addressOf(request)) },
      { limit: deps.rateLimits["recovery-account"], subject: mailbox },
    ]);
    return undefined;
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const { retryAfterSeconds } = error;
    reply.headers({ ...rateLimitHeaders(error), "retry-after": String(retryAfterSeconds) });
    return { retryAfterSeconds };
  }
}
