/** What the legacy API says when somebody guesses too often, too many sign in, or mail is not set up. */
import { PasswordQueueFull } from "../../core/passwords/password-hasher.ts";
import { rateLimitHeaders } from "../../core/rate-limits/rate-limit-headers.ts";
import { RateLimited } from "../../core/rate-limits/rate-limits.ts";
import { ApiError } from "../../http/api/api-error.ts";

/** Runs what counts guesses or hashes passwords. @throws ApiError 429, 503 */
export async function withLimits<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RateLimited) {
      const { retryAfterSeconds } = error;
      const headers = rateLimitHeaders(error);
      throw new ApiError(429, "rate-limited", "There were too many tries", { retryAfterSeconds, headers });
    }
    if (error instanceof PasswordQueueFull) {
      const { retryAfterSeconds } = error;
      throw new ApiError(503, "busy", "Many people are signing in right now", { retryAfterSeconds });
    }
    throw error;
  }
}

/** @throws ApiError 503 */
export function requireMail({ isOpen }: { readonly isOpen: boolean }): void {
  if (isOpen) return;
  throw new ApiError(503, "mail-not-set-up", "Mail is not set up", {
    detail: "This needs a mail to the user, and the service has no mail server (SMTP_URL).",
  });
}

/** A link, a key or an address that came too late; a new one can be asked for. */
export const expiredError = () => new ApiError(410, "expired", "It has expired");
