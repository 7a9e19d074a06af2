/** An invitation that is sent again, by every operation that sends one. */
import { RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import { countResend } from "../../../core/users/invitations/count-resend.ts";
import type { User } from "../../../core/users/user.ts";
import { ApiError } from "../../../http/api/api-error.ts";
import type { ApiDeps } from "../frame/api-deps.ts";

/** @throws ApiError 429 */
export async function requireFewResends(inside: ApiDeps, user: Pick<User, "orgId" | "id">): Promise<void> {
  try {
    await countResend(inside, user);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    throw new ApiError(429, "rate-limited", "The invitation was resent too often", {
      detail: `Try again in ${error.retryAfterSeconds} seconds.`,
      retryAfterSeconds: error.retryAfterSeconds,
    });
  }
}
