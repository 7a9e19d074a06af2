/** Every operation of API v1. */
import { apiApplicationCases } from "./api-applications.ts";
import { apiClientAuthorityCases } from "./api-client-authorities.ts";
import { apiConfigurationCases } from "./api-configuration.ts";
import { apiConnectionCases } from "./api-connections.ts";
import { apiDetailCases } from "./api-details.ts";
import { apiDeviceCases } from "./api-devices.ts";
import { apiDomainCases } from "./api-domains.ts";
import { apiEventStreamCases } from "./api-event-streams.ts";
import { apiGrantCases } from "./api-grants.ts";
import { apiGroupCases } from "./api-groups.ts";
import { apiInitialAccessTokenCases } from "./api-initial-access-tokens.ts";
import { apiInvitationCases } from "./api-invitations.ts";
import { apiLedgerCases } from "./api-ledger.ts";
import { apiOrganisationCases } from "./api-organisation.ts";
import { apiPoolCases } from "./api-pools.ts";
import { apiPortalLinkCases } from "./api-portal-links.ts";
import { apiResourceCases } from "./api-resources.ts";
import { apiRoleCases } from "./api-roles.ts";
import { apiScopeCases } from "./api-scopes.ts";
import { apiSharedApplicationCases } from "./api-shared-applications.ts";
import { apiSystemAccountCases } from "./api-system-accounts.ts";
import { apiTokenExchangeCases } from "./api-token-exchange.ts";
import { apiTrustCases } from "./api-trusts.ts";
import { apiUsersCases } from "./api-users.ts";
import { apiWebhookCases } from "./api-webhooks.ts";

export const apiV1AllCases = {
  ...apiUsersCases,
  ...apiConnectionCases,
  ...apiConfigurationCases,
  ...apiDetailCases,
  ...apiDeviceCases,
  ...apiDomainCases,
  ...apiApplicationCases,
  ...apiGroupCases,
  ...apiGrantCases,
  ...apiInvitationCases,
  ...apiLedgerCases,
  ...apiOrganisationCases,
  ...apiPoolCases,
  ...apiResourceCases,
  ...apiPortalLinkCases,
  ...apiRoleCases,
  ...apiScopeCases,
  ...apiClientAuthorityCases,
  ...apiSharedApplicationCases,
  ...apiSystemAccountCases,
  ...apiTokenExchangeCases,
  ...apiInitialAccessTokenCases,
  ...apiTrustCases,
  ...apiWebhookCases,
  ...apiEventStreamCases,
};
