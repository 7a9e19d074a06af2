/** Session keys and applications. */
import type { ItemList } from "../service-api/item-list.ts";
import type { CallOptions, ListOptions, TypedClient } from "../service-api/typed-client.ts";
import type { LegacyCalls } from "./legacy-calls.ts";
import type { ConvertedSessionKey, LegacyApplication, ValidSessionKey } from "./legacy-records.ts";

type Permission = LegacyCalls["GET /legacy/api/Keys/User/{key}/Permission/{appId}"]["answer"];

/** Validates and converts session keys. */
export interface LegacySessionKeys {
  /**
   * Returns the key's user. Check the `ApplicationId`: a key of another application is valid too but proves no sign-in to yours.
   * `problem.status` is 401 for an unknown, expired or revoked key.
   */
  validate(key: string, options?: CallOptions): Promise<ValidSessionKey>;
  /** Returns a key valid for 15 minutes, to be passed to another application. */
  toTemporary(key: string, options?: CallOptions): Promise<ConvertedSessionKey>;
  /** Returns a key valid until revoked, if the application allows it. */
  toPermanent(key: string, options?: CallOptions): Promise<ConvertedSessionKey>;
  /** Returns whether the key's user may use an application of the organisation, and their role. */
  permission(key: string, applicationId: string, options?: CallOptions): Promise<Permission>;
}

const KEY = "/legacy/api/Keys/User/{key}";

export function legacySessionKeys({ call }: TypedClient<LegacyCalls>): LegacySessionKeys {
  return {
    validate: async (key, options) => (await call(`GET ${KEY}`, { path: { key } }, options)).body,
    toTemporary: async (key, options) =>
      (await call(`POST ${KEY}/Convert/To/UserTemp`, { path: { key } }, options)).body,
    toPermanent: async (key, options) =>
      (await call(`POST ${KEY}/Convert/To/UserPerm`, { path: { key } }, options)).body,
    permission: async (key, appId, options) =>
      (await call(`GET ${KEY}/Permission/{appId}`, { path: { key, appId } }, options)).body,
  };
}

/** Lists of applications. */
export interface LegacyApplications {
  /** Applications of the caller's organisation. */
  list(options?: ListOptions): ItemList<LegacyApplication>;
  /** Applications the caller may act for. */
  accessible(options?: ListOptions): ItemList<LegacyApplication>;
  /** Applications of an organisation, which must be the caller's, on behalf of an application. */
  ofOrganisation(
    applicationId: string,
    organisationId: string,
    options?: ListOptions,
  ): ItemList<LegacyApplication>;
}

export function legacyApplications({ list }: TypedClient<LegacyCalls>): LegacyApplications {
  return {
    list: (options) => list("GET /legacy/api/Organisation/Application/List", {}, options),
    accessible: (options) => list("GET /legacy/api/Organisation/External/Application/List", {}, options),
    ofOrganisation: (appId, publicId, options) => {
      const route = "GET /legacy/api/Organisations/{appId}/{publicId}/application/list";
      return list(route, { path: { appId, publicId } }, options);
    },
  };
}
