/** Creates the filter that a configuration names. */
import { checkConfiguration } from "./configuration/check-configuration.ts";
import type { ConfigurationProperties, FilterOptions } from "./configuration/settings.ts";
import type { Filter } from "./filter.ts";
import type { OAuthFederatedOptions } from "./oauth-federated/federated-context.ts";
import { oauthFederated } from "./oauth-federated/oauth-federated.ts";
import { type OAuthUserBearerOptions, oauthUserBearer } from "./oauth-user-bearer/oauth-user-bearer.ts";
import {
  type SystemAccountExternalOptions,
  systemAccountExternal,
} from "./system-account/system-account-external.ts";
import { type UserFederatedOptions, userFederated } from "./user-federated/user-federated.ts";

/** Functions and shared stores of all filters; each uses its own. */
export interface FilterFunctions
  extends OAuthFederatedOptions,
    UserFederatedOptions,
    OAuthUserBearerOptions,
    SystemAccountExternalOptions {}

/**
 * Creates the filter that `filterType` names. An application with a fixed type can call `oauthFederated`, `userFederated`,
 * `oauthUserBearer`, `systemAccountExternal` or `none` directly, so that bundlers drop the others.
 * @throws SignetError `configuration`, with every problem in `reasons`. Nothing is fetched before the first request.
 * @example
 * const filter = createFilter({
 *   filterType: "OAuthFederated",
 *   federationServer: "https://id.example.com",
 *   applicationId: "01998d70-5c1e-7d3a-8a4b-6f0e2d9c7b15",
 *   oauthOrganisationId: "01998d70-0000-7d3a-8a4b-6f0e2d9c7b15",
 *   oauthClientSecret: "sgn_cs_…",
 *   baseUrl: "https://app.example.com",
 *   cookieSecrets: ["…"],
 * });
 */
export function createFilter(configuration: FilterOptions, options: FilterFunctions = {}): Filter {
  // Also checked here, so that an unknown filter type is reported like any other problem.
  checkConfiguration(configuration);
  switch (configuration.filterType) {
    case "OAuthFederated":
      return oauthFederated(configuration, options);
    case "UserFederated":
      return userFederated(configuration, options);
    case "OAuthUserBearer":
      return oauthUserBearer(configuration, options);
    case "SystemAccountExternal":
      return systemAccountExternal(configuration, options);
    case "None":
      return none(configuration);
  }
}

/** The same as `createFilter`, by the field's name. Adapters take what it returns. */
export const middleware = createFilter;

/** Authenticates nobody, so that configuration alone can switch protection off. @throws SignetError `configuration` */
export function none(configuration: ConfigurationProperties): Filter {
  checkConfiguration({ ...configuration, filterType: "None" });
  return { filterType: "None", authenticate: async () => ({ kind: "anonymous", cookies: [] }) };
}
