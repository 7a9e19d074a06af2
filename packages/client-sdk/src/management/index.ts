/**
 * Client for the service's management API: an organisation's OAuth clients and secrets, scopes, consents, pre-authorizations and
 * system accounts. Start with `managementClient`.
 *
 * @module management
 */

export type { ServiceOptions } from "../service-api/service-client.ts";
export type { ServiceConfiguration } from "../service-api/service-settings.ts";
export type { CallOptions, ItemList, ListOptions, Page } from "../service-api/typed-client.ts";
export type { DeleteOptions, RepeatOptions, Versioned } from "../service-api/versions.ts";
export {
  type ConsentFilter,
  type ManagedClients,
  type ManagedConsents,
  type ManagedPreauthorizations,
  type ManagedScopes,
  type ManagedSystemAccounts,
  type ManagementClient,
  managementClient,
} from "./management-client.ts";
export type {
  AssignedUser,
  ChangedClient,
  ChangedScope,
  ChangedSystemAccount,
  Client,
  ClientSecret,
  Consent,
  CreatedClient,
  CreatedClientSecret,
  CreatedSystemAccount,
  CreatedSystemAccountKey,
  NewClient,
  NewScope,
  NewSystemAccount,
  Preauthorization,
  Scope,
  SystemAccount,
  SystemAccountKey,
} from "./management-records.ts";
export type { Replacement } from "./versioned-records.ts";
