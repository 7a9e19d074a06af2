/** Dependencies of the legacy API, with its three authenticators. */
import type { Activity } from "../../core/activity/activity.ts";
import type { ApplicationDirectory } from "../../core/applications/applications.ts";
import type { Clock } from "../../core/clock.ts";
import type { Encryption } from "../../core/encryption/encryption.ts";
import type { Outbox } from "../../core/mail/outbox.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { PasswordHasher } from "../../core/passwords/password-hasher.ts";
import type { RateLimits } from "../../core/rate-limits/rate-limits.ts";
import type { SessionKeyCaller } from "../../core/session-keys/caller.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/system-account.ts";
import type { Database } from "../../db/open.ts";
import type { ApiAuthenticator } from "../../http/api/api-route.ts";
import type { RenderErrorPage } from "../../http/error-handlers.ts";

export interface LegacyDeps {
  readonly baseUrl: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly encryption: Encryption;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly passwords: PasswordHasher;
  readonly rateLimits: RateLimits;
  readonly outbox: Outbox;
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
