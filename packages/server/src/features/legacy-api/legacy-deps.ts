/** Dependencies of the legacy API with its three authenticators, and the responses that its routes share. */

import Type from "typebox";
import type { Activity } from "../../core/activity/activity.ts";
import type { ApplicationDirectory } from "../../core/applications/applications.ts";
import type { Encryption } from "../../core/encryption/encryption.ts";
import type { Outbox } from "../../core/mail/outbox.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import { type PasswordHasher, PasswordQueueFull } from "../../core/passwords/password-hasher.ts";
import type { GuessDeps } from "../../core/rate-limits/attempts.ts";
import { RateLimited, type RateLimits, rateLimitHeaders } from "../../core/rate-limits/rate-limits.ts";
import type { SessionKeyCaller } from "../../core/session-keys/caller.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/system-account.ts";
import type { ChangeFeed } from "../../db/change-feed.ts";
import { ApiError } from "../../http/api/api-error.ts";
import type { Answer, ApiAuthenticator } from "../../http/api/api-route.ts";
import type { RenderErrorPage } from "../../http/error-handlers.ts";

export interface LegacyDeps extends GuessDeps {
  readonly baseUrl: string;
  readonly encryption: Encryption;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly passwords: PasswordHasher;
  readonly rateLimits: RateLimits;
  readonly outbox: Outbox;
  readonly changes: ChangeFeed;
  readonly activity: Pick<Activity, "count">;
  /** For calls that a system account signs. */
  readonly accountAuthenticator: ApiAuthenticator<SystemAccountCaller>;
  /** For calls whose credential is a session key. */
  readonly keyAuthenticator: ApiAuthenticator<SessionKeyCaller>;
  /** For browsers that opened a link that does not work. */
  readonly showError: RenderErrorPage;
}

/** For calls whose credential is the link itself; an additional signature is verified (wire-contract.md §4). */
export const linkAuthenticator = ({
  accountAuthenticator,
}: Pick<LegacyDeps, "accountAuthenticator">): ApiAuthenticator<SystemAccountCaller | undefined> => ({
  authenticate: async (request, raw) =>
    request.headers.authorization === undefined ? undefined : accountAuthenticator.authenticate(request, raw),
});

/** The response to too many attempts and to too many password hashes at once; any other error unchanged. */
export function limitAnswer(error: Error): Error {
  if (error instanceof RateLimited) {
    const { retryAfterSeconds } = error;
    const headers = rateLimitHeaders(error);
    return new ApiError(429, "rate-limited", "Too many attempts", { retryAfterSeconds, headers });
  }
  if (!(error instanceof PasswordQueueFull)) return error;
  const { retryAfterSeconds } = error;
  return new ApiError(503, "busy", "Too many users are signing in", { retryAfterSeconds, cause: error });
}

/** @throws ApiError 503 */
export function requireMail({ isOpen }: { readonly isOpen: boolean }): void {
  if (isOpen) return;
  throw new ApiError(503, "mail-not-set-up", "Mail is not set up", {
    detail: "This request sends an email, and no mail server is configured (SMTP_URL).",
  });
}

/** Of calls for a user who is not signed in: limits count where the user is, never where the backend is. */
export const endUserHeaders = {
  "X-End-User-Address":
    "The IP address of the user for whom the application calls. Limits then count for the user's network, not for the " +
    "application. Ignored unless the system account has `allowEndUserAddress`",
} as const;

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
