/** The service's legacy API: users, session keys and applications, as applications of the legacy federation know them. */
import { createServiceClient, type ServiceOptions } from "../service-api/service-client.ts";
import { type ServiceConfiguration, serviceSettings } from "../service-api/service-settings.ts";
import { typedClient } from "../service-api/typed-client.ts";
import { type LegacyActions, legacyActions } from "./actions.ts";
import { type LegacyApplications, legacyApplications } from "./applications.ts";
import { type LegacyAuthentication, legacyAuthentication } from "./authentication.ts";
import type { LegacyCalls } from "./legacy-calls.ts";
import { type LegacySessionKeys, legacySessionKeys } from "./session-keys.ts";
import { type LegacyUsers, legacyUsers } from "./users.ts";

/** What `legacyApiClient` makes. */
export interface LegacyApiClient {
  readonly authentication: LegacyAuthentication;
  readonly actions: LegacyActions;
  readonly users: LegacyUsers;
  readonly keys: LegacySessionKeys;
  readonly applications: LegacyApplications;
}

/**
 * With the keys of a system account every call is signed, in the strict form. Without them only those calls work whose
 * credential is a session key or a link, and these only for applications that do not demand a signature.
 *
 * Calls that only read are made up to three times when the service does not answer or turns them away; others once, as
 * nothing tells whether a first one has arrived. Refusals are `SignetError` with code `provider_refused` and a `problem`, e.g.
 * `error.problem?.code === "two-factor-required"`.
 *
 * @param configuration `federationServer`, and the two keys of a system account
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
  const calls = typedClient<LegacyCalls>(createServiceClient(settings, options));
  return {
    authentication: legacyAuthentication(calls),
    actions: legacyActions(calls),
    users: legacyUsers(calls),
    keys: legacySessionKeys(calls),
    applications: legacyApplications(calls),
  };
}
