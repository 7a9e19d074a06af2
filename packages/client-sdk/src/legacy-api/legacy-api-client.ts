/** Client for the service's legacy API: users, session keys and applications of the legacy federation. */
import { createServiceClient, type ServiceOptions } from "../service-api/service-client.ts";
import { type ServiceConfiguration, serviceSettings } from "../service-api/service-settings.ts";
import { typedClient } from "../service-api/typed-client.ts";
import {
  type LegacyActions,
  type LegacyAuthentication,
  legacyActions,
  legacyAuthentication,
} from "./authentication.ts";
import type { LegacyCalls } from "./legacy-calls.ts";
import {
  type LegacyApplications,
  type LegacySessionKeys,
  legacyApplications,
  legacySessionKeys,
} from "./session-keys.ts";
import { type LegacyUsers, legacyUsers } from "./users.ts";

/** What `legacyApiClient` returns. */
export interface LegacyApiClient {
  readonly authentication: LegacyAuthentication;
  readonly actions: LegacyActions;
  readonly users: LegacyUsers;
  readonly keys: LegacySessionKeys;
  readonly applications: LegacyApplications;
}

/**
 * Creates a client. With a system account's key pair, every call is signed in the strict form. Without it, only calls work whose
 * credential is a session key or a link, and only for applications that don't require signatures.
 *
 * Read-only calls are tried up to three times if the service is unavailable; others once, because the first may have arrived.
 * Refused calls throw `SignetError` with code `provider_refused` and a `problem`, e.g.
 * `error.problem?.code === "two-factor-required"`.
 *
 * @param configuration `federationServer`, and the key pair of a system account
 * @throws SignetError `configuration`
 * @example
 * const legacy = legacyApiClient({ federationServer, systemAccountPublicKey, systemAccountSecretKey });
 * const user = await legacy.users.get("ada@example.com");
 */
export function legacyApiClient(
  configuration: ServiceConfiguration,
  options: ServiceOptions = {},
): LegacyApiClient {
  const settings = serviceSettings(configuration, { isSigned: false });
  const client = typedClient<LegacyCalls>(createServiceClient(settings, options));
  return {
    authentication: legacyAuthentication(client),
    actions: legacyActions(client),
    users: legacyUsers(client),
    keys: legacySessionKeys(client),
    applications: legacyApplications(client),
  };
}
