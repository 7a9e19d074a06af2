/** Responses that several routes of the legacy API share. */
import Type from "typebox";
import { PasswordQueueFull } from "../../core/passwords/password-hasher.ts";
import { RateLimited, rateLimitHeaders } from "../../core/rate-limits/rate-limits.ts";
import { ApiError } from "../../http/api/api-error.ts";
import type { Answer } from "../../http/api/api-route.ts";

/** Runs work that counts attempts or hashes passwords. @throws ApiError 429, 503 */
export async function withLimits<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RateLimited) {
      const { retryAfterSeconds } = error;
      const headers = rateLimitHeaders(error);
      throw new ApiError(429, "rate-limited", "Too many attempts", { retryAfterSeconds, headers });
    }
    if (error instanceof PasswordQueueFull) {
      const { retryAfterSeconds } = error;
      throw new ApiError(503, "busy", "Too many users are signing in", { retryAfterSeconds });
    }
    throw error;
  }
}

/** @throws ApiError 503 */
export function requireMail({ isOpen }: { readonly isOpen: boolean }): void {
  if (isOpen) return;
  throw new ApiError(503, "mail-not-set-up", "Mail is not set up", {
    detail: "This request sends an email, and no mail server is configured (SMTP_URL).",
  });
}

export const expiredError = () => new ApiError(410, "expired", "The link has expired");

/** The same for every address, so that it does not reveal which addresses have accounts. */
export const mailAnswers = {
  202: {
    description: "Accepted; the same response for every address",
    schema: Type.Object({ Message: Type.String() }),
  },
} as const;

export const accepted: Answer = {
  status: 202,
  body: { Message: "If the address can be used for this, an email is on its way." },
};
