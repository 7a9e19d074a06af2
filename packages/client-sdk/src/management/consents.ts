/** What users, or the organisation for all of them, have allowed clients. */
import type { ItemList } from "../service-api/item-list.ts";
import type { CallOptions, ListOptions, TypedClient } from "../service-api/typed-client.ts";
import type { ManagementCalls } from "./management-calls.ts";
import type { Consent } from "./management-records.ts";
import { type RepeatOptions, repeatable } from "./versions.ts";

/** Which consents are listed: those that fit all that is given. */
export interface ConsentFilter {
  readonly clientId?: string;
  /** PermId. */
  readonly userId?: string;
  readonly kind?: "user" | "organisation";
  /** True: those taken back too. */
  readonly revoked?: boolean;
}

type OrganisationConsent = ManagementCalls["POST /legacy/api/oauth/consents/organisation"]["body"];
type UserConsent = ManagementCalls["POST /legacy/api/oauth/consents/user"]["body"];

/** What users, or the organisation for all of them, have allowed clients. */
export interface ManagedConsents {
  /** Those that hold, oldest first; with `revoked` the others too. */
  list(filter?: ConsentFilter, options?: ListOptions): ItemList<Consent>;
  /** Also when it has been taken back. */
  get(id: string, options?: CallOptions): Promise<Consent>;
  /** For all users: none of them is asked. */
  grantForOrganisation(consent: OrganisationConsent, options?: RepeatOptions): Promise<Consent>;
  /** For one user, who is not asked. */
  grantForUser(consent: UserConsent, options?: RepeatOptions): Promise<Consent>;
  /** Takes it back: the refresh tokens that rest on it end at once. */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

const ALL = "/legacy/api/oauth/consents";
const ONE = `${ALL}/{id}` as const;

export function managedConsents({ call, list }: TypedClient<ManagementCalls>): ManagedConsents {
  return {
    list: ({ revoked, ...filter } = {}, options) => {
      const query =
        revoked === undefined ? filter : ({ ...filter, revoked: revoked ? "true" : "false" } as const);
      return list(`GET ${ALL}`, { query }, options);
    },
    get: async (id, options) => (await call(`GET ${ONE}`, { path: { id } }, options)).body,
    grantForOrganisation: async (body, options = {}) =>
      (await call(`POST ${ALL}/organisation`, { body, ...repeatable(options) }, options)).body,
    grantForUser: async (body, options = {}) =>
      (await call(`POST ${ALL}/user`, { body, ...repeatable(options) }, options)).body,
    revoke: async (id, options) => {
      await call(`DELETE ${ONE}`, { path: { id } }, options);
    },
  };
}
