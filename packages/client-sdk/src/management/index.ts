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
export type {
  ChangedClientCertificateAuthority,
  ClientCertificateAuthority,
  NewClientCertificateAuthority,
} from "./generated/client-certificate-authorities.ts";
export type {
  AssignedUser,
  ChangedClient,
  Client,
  ClientSecret,
  CreatedClient,
  CreatedClientSecret,
  NewClient,
} from "./generated/clients.ts";
export type { Consent } from "./generated/consents.ts";
export type { Preauthorization } from "./generated/pre-authorizations.ts";
export type { ChangedResource, NewResource, Resource } from "./generated/resources.ts";
export type { ChangedScope, NewScope } from "./generated/scopes.ts";
export type { Scope } from "./generated/shared.ts";
export type {
  ChangedSystemAccount,
  CreatedSystemAccount,
  CreatedSystemAccountKey,
  NewSystemAccount,
  SystemAccount,
  SystemAccountKey,
} from "./generated/system-accounts.ts";
export {
  type ConsentFilter,
  type ManagedClientCertificateAuthorities,
  type ManagedClients,
  type ManagedConsents,
  type ManagedPreauthorizations,
  type ManagedResources,
  type ManagedScopes,
  type ManagedSystemAccounts,
  type ManagementClient,
  managementClient,
} from "./management-client.ts";
export type { Replacement } from "./versioned-records.ts";
