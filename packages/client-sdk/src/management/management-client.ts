/** Client for the service's management API, signed by an administrator's system account. */
import { createServiceClient, type ServiceOptions } from "../service-api/service-client.ts";
import { type ServiceConfiguration, serviceSettings } from "../service-api/service-settings.ts";
import {
  type CallOptions,
  type ItemList,
  type ListOptions,
  type TypedClient,
  typedClient,
} from "../service-api/typed-client.ts";
import { type DeleteOptions, type RepeatOptions, repeatable } from "../service-api/versions.ts";
import type {
  ChangedClientCertificateAuthority,
  ClientCertificateAuthority,
  NewClientCertificateAuthority,
} from "./generated/client-certificate-authorities.ts";
import type {
  AssignedUser,
  ChangedClient,
  Client,
  CreatedClient,
  CreatedClientSecret,
  NewClient,
} from "./generated/clients.ts";
import type { Consent } from "./generated/consents.ts";
import type { Preauthorization } from "./generated/pre-authorizations.ts";
import type { ChangedResource, NewResource, Resource } from "./generated/resources.ts";
import type { ChangedScope, NewScope } from "./generated/scopes.ts";
import type { Scope } from "./generated/shared.ts";
import type {
  ChangedSystemAccount,
  CreatedSystemAccount,
  CreatedSystemAccountKey,
  NewSystemAccount,
  SystemAccount,
} from "./generated/system-accounts.ts";
import type { ManagementCalls } from "./management-calls.ts";
import { type VersionedRecords, versionedRecords } from "./versioned-records.ts";

/** Custom scopes of the organisation. */
export interface ManagedScopes extends VersionedRecords<Scope, Scope, NewScope, ChangedScope> {
  /** Deletes the scope permanently; existing tokens keep it. */
  delete(id: string, options?: DeleteOptions): Promise<void>;
}

/** What access tokens are for (RFC 8707, RFC 9728). */
export interface ManagedResources extends VersionedRecords<Resource, Resource, NewResource, ChangedResource> {
  /** Deletes the resource permanently; its scopes stay. */
  delete(id: string, options?: DeleteOptions): Promise<void>;
}

/** Authorities whose certificates authenticate clients by `tls_client_auth`. */
export interface ManagedClientCertificateAuthorities
  extends VersionedRecords<
    ClientCertificateAuthority,
    ClientCertificateAuthority,
    NewClientCertificateAuthority,
    ChangedClientCertificateAuthority
  > {
  /** Its certificates authenticate nobody from then on. */
  delete(id: string, options?: DeleteOptions): Promise<void>;
}

/** What `managementClient` returns. */
export interface ManagementClient {
  readonly clients: ManagedClients;
  readonly scopes: ManagedScopes;
  readonly resources: ManagedResources;
  readonly clientCertificateAuthorities: ManagedClientCertificateAuthorities;
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
    resources: versionedRecords(client, "/legacy/api/oauth/resources"),
    clientCertificateAuthorities: versionedRecords(
      client,
      "/legacy/api/oauth/client-certificate-authorities",
    ),
    consents: managedConsents(client),
    preauthorizations: managedPreauthorizations(client),
    systemAccounts: managedSystemAccounts(client),
  };
}

type Rotation = NonNullable<
  ManagementCalls["POST /legacy/api/oauth/clients/{clientId}/rotate-secret"]["body"]
>;

/** OAuth clients of the organisation, their secrets, and their assigned users. */
export interface ManagedClients extends VersionedRecords<Client, CreatedClient, NewClient, ChangedClient> {
  /** Also deletes the client's tokens, codes, consents and session keys. */
  delete(clientId: string, options?: DeleteOptions): Promise<void>;
  /** Adds a secret, shown only once. The old ones stay active unless `expireOthersInSeconds` is set. */
  rotateSecret(clientId: string, rotation?: Rotation, options?: RepeatOptions): Promise<CreatedClientSecret>;
  /** Revokes one secret immediately. @param secretId default: all active ones except the newest */
  revokeOldSecret(clientId: string, secretId?: string, options?: RepeatOptions): Promise<void>;
  /** Users allowed to use a client whose `access` is `assigned`. */
  assignedUsers(clientId: string, options?: ListOptions): ItemList<AssignedUser>;
  /** Assigns a user. */
  assignUser(clientId: string, permId: string, options?: CallOptions): Promise<void>;
  /** Unassigns a user. */
  unassignUser(clientId: string, permId: string, options?: CallOptions): Promise<void>;
}

const CLIENTS = "/legacy/api/oauth/clients";
const CLIENT = `${CLIENTS}/{clientId}` as const;

function managedClients(client: TypedClient<ManagementCalls>): ManagedClients {
  const { call, list } = client;
  return {
    ...versionedRecords(client, CLIENTS),
    rotateSecret: (clientId, body = {}, options = {}) =>
      call(`POST ${CLIENT}/rotate-secret`, { path: { clientId }, body, ...repeatable(options) }, options),
    revokeOldSecret: (clientId, secretId, options = {}) => {
      const body = secretId === undefined ? {} : { secretId };
      return call(
        `POST ${CLIENT}/revoke-old-secret`,
        { path: { clientId }, body, ...repeatable(options) },
        options,
      );
    },
    assignedUsers: (clientId, options) => list(`GET ${CLIENT}/users`, { path: { clientId } }, options),
    assignUser: (clientId, permId, options) =>
      call(`PUT ${CLIENT}/users/{permId}`, { path: { clientId, permId } }, options),
    unassignUser: (clientId, permId, options) =>
      call(`DELETE ${CLIENT}/users/{permId}`, { path: { clientId, permId } }, options),
  };
}

type NewKey = NonNullable<ManagementCalls["POST /legacy/api/oauth/system-accounts/{id}/keys"]["body"]>;

/** System accounts of the organisation and their key pairs. */
export interface ManagedSystemAccounts
  extends VersionedRecords<SystemAccount, CreatedSystemAccount, NewSystemAccount, ChangedSystemAccount> {
  /** Deletes the account with its keys. An account can't delete itself. */
  delete(id: string, options?: DeleteOptions): Promise<void>;
  /** Lets the account act for another application of the organisation. */
  grantApplication(id: string, applicationId: string, options?: CallOptions): Promise<void>;
  /** Revokes that permission. */
  withdrawApplication(id: string, applicationId: string, options?: CallOptions): Promise<void>;
  /** Adds a key pair, shown only once. The old ones stay active unless `expireOthersInSeconds` is set. */
  addKey(id: string, key?: NewKey, options?: RepeatOptions): Promise<CreatedSystemAccountKey>;
  /** Revokes one key pair immediately. A pair can't revoke itself. */
  revokeKey(id: string, publicKey: string, options?: CallOptions): Promise<void>;
}

const ACCOUNTS = "/legacy/api/oauth/system-accounts";
const ACCOUNT = `${ACCOUNTS}/{id}` as const;

function managedSystemAccounts(client: TypedClient<ManagementCalls>): ManagedSystemAccounts {
  const { call } = client;
  return {
    ...versionedRecords(client, ACCOUNTS),
    grantApplication: (id, applicationId, options) =>
      call(`PUT ${ACCOUNT}/permissions/{applicationId}`, { path: { id, applicationId } }, options),
    withdrawApplication: (id, applicationId, options) =>
      call(`DELETE ${ACCOUNT}/permissions/{applicationId}`, { path: { id, applicationId } }, options),
    addKey: (id, body = {}, options = {}) =>
      call(`POST ${ACCOUNT}/keys`, { path: { id }, body, ...repeatable(options) }, options),
    revokeKey: (id, publicKey, options) =>
      call(`DELETE ${ACCOUNT}/keys/{keyId}`, { path: { id, keyId: publicKey } }, options),
  };
}

/** Filters a list of consents; all given criteria must match. */
export interface ConsentFilter {
  readonly clientId?: string;
  /** PermId. */
  readonly userId?: string;
  readonly kind?: "user" | "organisation";
  /** Includes revoked ones. */
  readonly revoked?: boolean;
}

type OrganisationConsent = ManagementCalls["POST /legacy/api/oauth/consents/organisation"]["body"];
type UserConsent = ManagementCalls["POST /legacy/api/oauth/consents/user"]["body"];

/** Consents granted to clients by users, or by the organisation for all users. */
export interface ManagedConsents {
  /** Active consents, oldest first; with `revoked` the revoked ones too. */
  list(filter?: ConsentFilter, options?: ListOptions): ItemList<Consent>;
  /** Returns a consent, revoked or not. */
  get(id: string, options?: CallOptions): Promise<Consent>;
  /** For all users, who are no longer asked. */
  grantForOrganisation(consent: OrganisationConsent, options?: RepeatOptions): Promise<Consent>;
  /** For one user, who is no longer asked. */
  grantForUser(consent: UserConsent, options?: RepeatOptions): Promise<Consent>;
  /** Also revokes the refresh tokens based on it. */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

const CONSENTS = "/legacy/api/oauth/consents";
const CONSENT = `${CONSENTS}/{id}` as const;

function managedConsents({ call, list }: TypedClient<ManagementCalls>): ManagedConsents {
  return {
    list: ({ revoked, ...filter } = {}, options) => {
      const query =
        revoked === undefined ? filter : ({ ...filter, revoked: revoked ? "true" : "false" } as const);
      return list(`GET ${CONSENTS}`, { query }, options);
    },
    get: (id, options) => call(`GET ${CONSENT}`, { path: { id } }, options),
    grantForOrganisation: (body, options = {}) =>
      call(`POST ${CONSENTS}/organisation`, { body, ...repeatable(options) }, options),
    grantForUser: (body, options = {}) =>
      call(`POST ${CONSENTS}/user`, { body, ...repeatable(options) }, options),
    revoke: (id, options) => call(`DELETE ${CONSENT}`, { path: { id } }, options),
  };
}

type NewPreauthorization = ManagementCalls["POST /legacy/api/oauth/preauthorizations"]["body"];

/** Scopes granted to clients in advance. */
export interface ManagedPreauthorizations {
  /** All pre-authorizations, oldest first. */
  list(filter?: { readonly clientId?: string }, options?: ListOptions): ItemList<Preauthorization>;
  /** Returns one by its id. */
  get(id: string, options?: CallOptions): Promise<Preauthorization>;
  /** For all users of one client, who are no longer asked for these scopes. */
  create(preauthorization: NewPreauthorization, options?: RepeatOptions): Promise<Preauthorization>;
  /** Also revokes the refresh tokens based on it. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

const PREAUTHORIZATIONS = "/legacy/api/oauth/preauthorizations";
const PREAUTHORIZATION = `${PREAUTHORIZATIONS}/{id}` as const;

function managedPreauthorizations({ call, list }: TypedClient<ManagementCalls>): ManagedPreauthorizations {
  return {
    list: (query = {}, options) => list(`GET ${PREAUTHORIZATIONS}`, { query }, options),
    get: (id, options) => call(`GET ${PREAUTHORIZATION}`, { path: { id } }, options),
    create: (body, options = {}) =>
      call(`POST ${PREAUTHORIZATIONS}`, { body, ...repeatable(options) }, options),
    delete: (id, options) => call(`DELETE ${PREAUTHORIZATION}`, { path: { id } }, options),
  };
}
