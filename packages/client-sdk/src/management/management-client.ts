/** Client for the service's management API, signed by an administrator's system account. */
import { createServiceClient, type ServiceOptions } from "../service-api/service-client.ts";
import { type ServiceConfiguration, serviceSettings } from "../service-api/service-settings.ts";
import { typedClient } from "../service-api/typed-client.ts";
import { type ManagedClients, managedClients } from "./clients.ts";
import {
  type ManagedConsents,
  type ManagedPreauthorizations,
  managedConsents,
  managedPreauthorizations,
} from "./consents.ts";
import type { ChangedScope, ManagementCalls, NewScope, Scope } from "./management-types.ts";
import { type ManagedSystemAccounts, managedSystemAccounts } from "./system-accounts.ts";
import { type DeleteOptions, type VersionedRecords, versionedRecords } from "./versioned-records.ts";

/** Custom scopes of the organisation. */
export interface ManagedScopes extends VersionedRecords<Scope, Scope, NewScope, ChangedScope> {
  /** Deletes the scope permanently; existing tokens keep it. */
  delete(id: string, options?: DeleteOptions): Promise<void>;
}

/** What `managementClient` returns. */
export interface ManagementClient {
  readonly clients: ManagedClients;
  readonly scopes: ManagedScopes;
  readonly consents: ManagedConsents;
  readonly preauthorizations: ManagedPreauthorizations;
  readonly systemAccounts: ManagedSystemAccounts;
}

/**
 * Creates a client whose calls are signed in the strict form by an administrator's system account. All calls are idempotent
 * (those that create something have an `Idempotency-Key`) and are tried up to three times if the service is unavailable.
 *
 * Refused calls throw `SignetError` with code `provider_refused` and a `problem`, e.g. `error.problem?.code === "not-found"`;
 * calls to an unavailable service throw `provider_unreachable`.
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
  const client = typedClient<ManagementCalls>(createServiceClient(settings, options));
  return {
    clients: managedClients(client),
    scopes: versionedRecords(client, "/legacy/api/oauth/scopes"),
    consents: managedConsents(client),
    preauthorizations: managedPreauthorizations(client),
    systemAccounts: managedSystemAccounts(client),
  };
}
