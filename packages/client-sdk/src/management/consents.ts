/** Consents (granted by users, or by the organisation for all users) and pre-authorizations (granted in advance). */
import type { CallOptions, ItemList, ListOptions, TypedClient } from "../service-api/typed-client.ts";
import type { Consent, ManagementCalls, Preauthorization } from "./management-types.ts";
import { type RepeatOptions, repeatable } from "./versioned-records.ts";

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

export function managedConsents({ call, list }: TypedClient<ManagementCalls>): ManagedConsents {
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

export function managedPreauthorizations({
  call,
  list,
}: TypedClient<ManagementCalls>): ManagedPreauthorizations {
  return {
    list: (query = {}, options) => list(`GET ${PREAUTHORIZATIONS}`, { query }, options),
    get: (id, options) => call(`GET ${PREAUTHORIZATION}`, { path: { id } }, options),
    create: (body, options = {}) =>
      call(`POST ${PREAUTHORIZATIONS}`, { body, ...repeatable(options) }, options),
    delete: (id, options) => call(`DELETE ${PREAUTHORIZATION}`, { path: { id } }, options),
  };
}
