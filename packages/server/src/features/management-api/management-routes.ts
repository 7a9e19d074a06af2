/** Every operation of the management API. */
import type { ApiScope } from "../../http/api/api-route.ts";
import { detailTypesRoutes } from "./authorization-detail-types.route.ts";
import { clientAuthoritiesRoutes } from "./client-authorities.route.ts";
import { assignedUsersRoutes } from "./clients/assigned-users.route.ts";
import { clientSecretsRoutes } from "./clients/client-secrets.route.ts";
import { clientsRoutes } from "./clients/clients.route.ts";
import { consentsRoutes } from "./consents.route.ts";
import { grantsRoutes } from "./grants.route.ts";
import type { ManagementDeps } from "./management.ts";
import { preauthorizationsRoutes } from "./preauthorizations.route.ts";
import { resourcesRoutes } from "./resources.route.ts";
import { scopesRoutes } from "./scopes.route.ts";
import { systemAccountKeysRoutes } from "./system-accounts/system-account-keys.route.ts";
import { systemAccountPermissionsRoutes } from "./system-accounts/system-account-permissions.route.ts";
import { systemAccountsRoutes } from "./system-accounts/system-accounts.route.ts";
import { tokenExchangePoliciesRoutes } from "./token-exchange-policies.route.ts";
import { trustsRoutes } from "./trusts.route.ts";
import { clientPolicyRoutes } from "./unregistered-clients/client-policy.route.ts";
import { initialAccessTokensRoutes } from "./unregistered-clients/initial-access-tokens.route.ts";

export function managementRoutes(api: ApiScope, deps: ManagementDeps): void {
  clientsRoutes(api, deps);
  clientSecretsRoutes(api, deps);
  assignedUsersRoutes(api, deps);
  scopesRoutes(api, deps);
  resourcesRoutes(api, deps);
  clientAuthoritiesRoutes(api, deps);
  clientPolicyRoutes(api, deps);
  initialAccessTokensRoutes(api, deps);
  consentsRoutes(api, deps);
  preauthorizationsRoutes(api, deps);
  trustsRoutes(api, deps);
  detailTypesRoutes(api, deps);
  grantsRoutes(api, deps);
  tokenExchangePoliciesRoutes(api, deps);
  systemAccountsRoutes(api, deps);
  systemAccountPermissionsRoutes(api, deps);
  systemAccountKeysRoutes(api, deps);
}
