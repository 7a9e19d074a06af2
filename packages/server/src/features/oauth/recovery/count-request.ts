/** How often mails may be asked for: from one network, and for one mailbox. */

import { networkOf } from "../../../core/rate-limits/network.ts";
import { rateLimitHeaders } from "../../../core/rate-limits/rate-limit-headers.ts";
import { countAttempt, RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";

/**
 * Counts one request, whether anybody has the address or not.
 * @param mailbox who the mail would go to, in words that only have to be the same for the same one
 * @returns undefined, or how long to wait; the answer's headers say so already
 */
export async function countRequest(
  deps: BrowserDeps,
  { organisation, request, reply }: Visit,
  mailbox: string,
): Promise<{ retryAfterSeconds: number } | undefined> {
  try {
    await countAttempt(deps, organisation.id, [
      { limit: deps.rateLimits["recovery-address"], subject: networkOf(addressOf(request)) },
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
