/** The one filter that a configuration names. */
import { checkConfiguration, type SignetConfiguration } from "./configuration.ts";
import type { Filter, FilterType } from "./filter.ts";
import { none } from "./none.ts";
import { oauthFederated } from "./oauth-federated/oauth-federated.ts";
import type { OAuthFederatedOptions } from "./oauth-federated/oauth-federated-options.ts";
import { type OAuthUserBearerOptions, oauthUserBearer } from "./oauth-user-bearer/oauth-user-bearer.ts";
import {
  type SystemAccountExternalOptions,
  systemAccountExternal,
} from "./system-account/system-account-external.ts";
import type { UserFederatedOptions } from "./user-federated/federation-context.ts";
import { userFederated } from "./user-federated/user-federated.ts";

/** The options of all filters: each takes its own. */
export interface FilterOptions
  extends OAuthFederatedOptions,
    UserFederatedOptions,
    OAuthUserBearerOptions,
    SystemAccountExternalOptions {}

const filters: Readonly<
  Record<FilterType, (configuration: SignetConfiguration, options: FilterOptions) => Filter>
> = {
  OAuthFederated: oauthFederated,
  UserFederated: userFederated,
  OAuthUserBearer: oauthUserBearer,
  SystemAccountExternal: systemAccountExternal,
  None: none,
};

/**
 * Makes the filter that `filterType` names. An application that has only one kind can call that one's own function instead,
 * so that a bundler leaves the others out: `oauthFederated`, `userFederated`, `oauthUserBearer`, `systemAccountExternal`, `none`.
 *
 * @throws SignetError `configuration`, with every fault in `reasons`: nothing is fetched before the first request.
 * @example
 * ```ts
 * const filter = createFilter({
 *   filterType: "OAuthFederated",
 *   federationServer: "https://id.example.com",
 *   applicationId: "01998d70-5c1e-7d3a-8a4b-6f0e2d9c7b15",
 *   oauthOrganisationId: "01998d70-0000-7d3a-8a4b-6f0e2d9c7b15",
 *   oauthClientSecret: "sgn_cs_…",
 *   baseUrl: "https://app.example.com",
 *   cookieSecrets: ["…"],
 * });
 * ```
 */
export function createFilter(configuration: SignetConfiguration, options: FilterOptions = {}): Filter {
  // Checked here as well: what a filter type is that nobody knows must be told as any other fault.
  const { filterType } = checkConfiguration(configuration);
  return filters[filterType](configuration, options);
}
