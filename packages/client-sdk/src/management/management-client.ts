/** The service's management API: OAuth clients, scopes, consents, pre-authorizations and system accounts of an organisation. */
import { createServiceClient, type ServiceOptions } from "../service-api/service-client.ts";
import { type ServiceConfiguration, serviceSettings } from "../service-api/service-settings.ts";
import { typedClient } from "../service-api/typed-client.ts";
import { type ManagedClients, managedClients } from "./clients.ts";
import { type ManagedConsents, managedConsents } from "./consents.ts";
import type { ManagementCalls } from "./management-calls.ts";
import { type ManagedPreauthorizations, managedPreauthorizations } from "./preauthorizations.ts";
import { type ManagedScopes, managedScopes } from "./scopes.ts";
import { type ManagedSystemAccounts, managedSystemAccounts } from "./system-accounts.ts";

/** What `managementClient` makes. */
export interface ManagementClient {
  readonly clients: ManagedClients;
  readonly scopes: ManagedScopes;
  readonly consents: ManagedConsents;
  readonly preauthorizations: ManagedPreauthorizations;
  readonly systemAccounts: ManagedSystemAccounts;
}

/**
 * Every call is signed in the strict form by an administrator's system account. Calls that do the same however often they
 * arrive are made up to three times when the service does not answer or turns them away; that is all of them, as those
 * that make something get an `Idempotency-Key`.
 *
 * Refusals are `SignetError` with code `provider_refused` and a `problem`, e.g. `error.problem?.code === "not-found"`;
 * `provider_unreachable` when the service cannot answer.
 *
 * @param configuration `federationServer`, `systemAccountPublicKey` and `systemAccountSecretKey`
 * @throws SignetError `configuration`
 * @example
 * const management = managementClient({ federationServer, systemAccountPublicKey, systemAccountSecretKey });
 * for await (const client of management.clients.list()) console.log(client.name);
 * await management.clients.update(clientId, (client) => ({ ...client, name: "Shop" }));
 */
export function managementClient(
  configuration: ServiceConfiguration,
  options: ServiceOptions = {},
): ManagementClient {
  const settings = serviceSettings(configuration, { isSigned: true });
  const calls = typedClient<ManagementCalls>(createServiceClient(settings, options));
  return {
    clients: managedClients(calls),
    scopes: managedScopes(calls),
    consents: managedConsents(calls),
    preauthorizations: managedPreauthorizations(calls),
    systemAccounts: managedSystemAccounts(calls),
  };
}
