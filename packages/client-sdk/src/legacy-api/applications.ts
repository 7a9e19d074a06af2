/** Lists of applications, as the legacy federation knows them. */
import type { ItemList } from "../service-api/item-list.ts";
import type { ListOptions, TypedClient } from "../service-api/typed-client.ts";
import type { LegacyCalls } from "./legacy-calls.ts";
import type { LegacyApplication } from "./legacy-records.ts";

/** Lists of applications. */
export interface LegacyApplications {
  /** Those of the caller's organisation. */
  list(options?: ListOptions): ItemList<LegacyApplication>;
  /** Those that the caller may act for. */
  accessible(options?: ListOptions): ItemList<LegacyApplication>;
  /** Those of an organisation, which is the caller's, asked for on behalf of an application. */
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
