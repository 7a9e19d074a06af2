/** API v1: records of an organisation, for programs with an access token. */
import type { FastifyInstance } from "fastify";
import { hitPortions } from "../core/rate-limits/hit-portions.ts";
import { limitHeadersOf } from "../features/api-v1/access.ts";
import { apiSecretsRoutes } from "../features/api-v1/applications/application-secrets.route.ts";
import { apiApplicationsRoutes } from "../features/api-v1/applications/applications.route.ts";
import { apiAssignedGroupsRoutes } from "../features/api-v1/applications/assigned-groups.route.ts";
import { apiAssignedUsersRoutes } from "../features/api-v1/applications/assigned-users.route.ts";
import { apiDetailTypesRoutes } from "../features/api-v1/authorization-details/authorization-detail-types.route.ts";
import { apiGrantsRoutes } from "../features/api-v1/authorization-details/grants.route.ts";
import { apiClientAuthoritiesRoutes } from "../features/api-v1/client-authorities/client-authorities.route.ts";
import { apiConnectionsRoutes } from "../features/api-v1/connections/connections.route.ts";
import { apiConsentsRoutes } from "../features/api-v1/consents/consents.route.ts";
import { apiPreauthorizationsRoutes } from "../features/api-v1/consents/preauthorizations.route.ts";
import { apiAllowedEksRoutes } from "../features/api-v1/devices/allowed-eks.route.ts";
import { apiDeviceCaRoutes, type DeviceCaDeps } from "../features/api-v1/devices/device-ca.route.ts";
import { apiDeviceRootsRoutes } from "../features/api-v1/devices/device-roots.route.ts";
import { apiDevicesRoutes } from "../features/api-v1/devices/devices.route.ts";
import { apiEnrollmentCodesRoutes } from "../features/api-v1/devices/enrollment-codes.route.ts";
import { apiBreakGlassRoutes } from "../features/api-v1/domains/break-glass.route.ts";
import { apiDomainsRoutes, type DomainDeps } from "../features/api-v1/domains/domains.route.ts";
import { apiEventStreamsRoutes } from "../features/api-v1/event-streams/event-streams.route.ts";
import type { ApiDeps } from "../features/api-v1/frame/api-deps.ts";
import { apiGroupsRoutes } from "../features/api-v1/groups/groups.route.ts";
import { apiUserGroupsRoutes } from "../features/api-v1/groups/user-groups.route.ts";
import { apiInvitationBatchRoute } from "../features/api-v1/invitations/invitation-batch.route.ts";
import { apiInvitationsRoutes } from "../features/api-v1/invitations/invitations.route.ts";
import { apiLedgerRoute } from "../features/api-v1/ledger/ledger.route.ts";
import { apiLedgerWitnessesRoutes } from "../features/api-v1/ledger/witnesses.route.ts";
import { apiOperatorsRoutes, apiRootRoute } from "../features/api-v1/operators/organisations.route.ts";
import { apiAuditEventsRoutes } from "../features/api-v1/organisation/audit-events.route.ts";
import { apiConfigurationRoutes } from "../features/api-v1/organisation/configuration.route.ts";
import { apiImagesRoutes } from "../features/api-v1/organisation/images.route.ts";
import { apiOrganisationRoutes } from "../features/api-v1/organisation/organisation.route.ts";
import { apiSignInRoutes } from "../features/api-v1/organisation/sign-in.route.ts";
import { apiSignUpRoutes } from "../features/api-v1/organisation/sign-up.route.ts";
import { apiSigningKeysRoutes } from "../features/api-v1/organisation/signing-keys.route.ts";
import { apiPortalLinksRoutes } from "../features/api-v1/portal-links/portal-links.route.ts";
import { apiResourcesRoutes } from "../features/api-v1/resources/resources.route.ts";
import { apiAccessRoute } from "../features/api-v1/roles/access.route.ts";
import { apiAssignmentsRoutes } from "../features/api-v1/roles/assignments.route.ts";
import { apiRolesRoutes } from "../features/api-v1/roles/roles.route.ts";
import { apiScopesRoutes } from "../features/api-v1/scopes/scopes.route.ts";
import { apiSharedApplicationsRoutes } from "../features/api-v1/shared-applications/shared-applications.route.ts";
import { apiSignUpsRoutes } from "../features/api-v1/sign-ups/sign-ups.route.ts";
import { apiAgentKeysRoutes } from "../features/api-v1/signing-pools/agent-keys.route.ts";
import { apiAgentsRoutes } from "../features/api-v1/signing-pools/agents.route.ts";
import { apiPoolsRoutes } from "../features/api-v1/signing-pools/pools.route.ts";
import type { SigningAdmin } from "../features/api-v1/signing-pools/signing-deps.ts";
import { apiSystemAccountKeysRoutes } from "../features/api-v1/system-accounts/system-account-keys.route.ts";
import { apiSystemAccountPermissionsRoutes } from "../features/api-v1/system-accounts/system-account-permissions.route.ts";
import { apiSystemAccountsRoutes } from "../features/api-v1/system-accounts/system-accounts.route.ts";
import { apiTokenExchangePoliciesRoutes } from "../features/api-v1/token-exchange/token-exchange-policies.route.ts";
import { apiTrustsRoutes } from "../features/api-v1/trusts/trusts.route.ts";
import { apiClientPolicyRoutes } from "../features/api-v1/unregistered-clients/client-policy.route.ts";
import { apiInitialAccessTokensRoutes } from "../features/api-v1/unregistered-clients/initial-access-tokens.route.ts";
import { apiIdentitiesRoutes } from "../features/api-v1/users/identities.route.ts";
import { apiImportUsersRoute } from "../features/api-v1/users/import-users.route.ts";
import { apiUserSessionsRoutes } from "../features/api-v1/users/user-sessions.route.ts";
import { apiUsersRoutes } from "../features/api-v1/users/users.route.ts";
import { apiWebhooksRoutes } from "../features/api-v1/webhooks/webhooks.route.ts";
import { registerDevice, withdrawCode } from "../features/device-identity/admin/register-device.ts";
import {
  addAgentKeys,
  deactivateAgent,
  registerAgent,
  retireAgentKey,
} from "../features/sovereign/admin-api/agents.ts";
import {
  changePool,
  checkPoolSettings,
  createPool,
  deletePool,
  disablePool,
} from "../features/sovereign/admin-api/pools.ts";
import type { ApiScope } from "../http/api/api-route.ts";
import { acceptJson, addJson } from "../http/api/json-body.ts";
import { MERGE_PATCH_TYPE } from "../http/api/merge-patch.ts";
import { problemErrorAnswer, problemErrorHandler } from "../http/error-handlers.ts";
import type { AppContext, Module } from "./app-context.ts";
import { bindingProver } from "./binding-prover.ts";
import { deviceTrust } from "./device-trust.ts";

const signing: SigningAdmin = {
  ...{ createPool, checkPoolSettings, changePool, disablePool, deletePool },
  ...{ registerAgent, addAgentKeys, deactivateAgent, retireAgentKey },
};

export const apiV1: Module = (scope, app) => apiV1Routes(scope, app);

/** @param atDatabase see ApiAccessDeps */
export function apiV1Routes(
  scope: FastifyInstance,
  {
    service,
    errors,
    operations,
    calls,
  }: Pick<AppContext, "service" | "errors" | "operations"> & {
    readonly calls: Pick<AppContext["calls"], "add">;
  },
  atDatabase?: ApiDeps["atDatabase"],
): void {
  acceptJson(scope);
  addJson(scope, { contentType: MERGE_PATCH_TYPE });
  scope.setErrorHandler(problemErrorHandler(errors));
  scope.addHook("onSend", async (request, reply) => {
    reply.headers(limitHeadersOf(request));
  });
  const { baseUrl, rateLimits } = service.config;
  const api = {
    app: scope,
    describe: (operation: (typeof operations)[number]) => operations.push(operation),
    direct: {
      add: calls.add,
      errorAnswer: (error: unknown, id: string) => problemErrorAnswer(errors, error, id),
      headersOf: limitHeadersOf,
    },
  };
  const deps = { ...service, baseUrl, rateLimits, portions: hitPortions() };
  const apiDeps: ApiDeps = {
    ...deps,
    ...(atDatabase ? { atDatabase } : {}),
    proveBinding: bindingProver(service),
  };
  usersRoutes(api, apiDeps);
  apiGroupsRoutes(api, apiDeps);
  apiRolesRoutes(api, apiDeps);
  apiAssignmentsRoutes(api, apiDeps);
  apiAccessRoute(api, apiDeps);
  ofApplications(api, apiDeps);
  apiConnectionsRoutes(api, apiDeps);
  domainsRoutes(api, { ...apiDeps, lookUpTxt: service.lookUpTxt });
  apiSharedApplicationsRoutes(api, apiDeps);
  grantsRoutes(api, apiDeps);
  apiSystemAccountsRoutes(api, apiDeps);
  apiSystemAccountKeysRoutes(api, apiDeps);
  apiSystemAccountPermissionsRoutes(api, apiDeps);
  devicesRoutes(api, { ...apiDeps, deviceCa: service.deviceCa });
  apiPoolsRoutes(api, { ...apiDeps, signing });
  apiAgentsRoutes(api, { ...apiDeps, signing });
  apiAgentKeysRoutes(api, { ...apiDeps, signing });
  organisationRoutes(api, apiDeps);
  apiOperatorsRoutes(api, { ...apiDeps, deviceCa: service.deviceCa });
  apiRootRoute(scope, apiDeps);
  apiSigningKeysRoutes(api, { ...apiDeps, config: service.config });
  apiAuditEventsRoutes(api, apiDeps);
  apiConfigurationRoutes(api, apiDeps);
  apiWebhooksRoutes(api, apiDeps);
  apiEventStreamsRoutes(api, apiDeps);
}

function domainsRoutes(api: ApiScope, deps: DomainDeps): void {
  apiDomainsRoutes(api, deps);
  apiBreakGlassRoutes(api, deps);
  apiPortalLinksRoutes(api, deps);
}

function devicesRoutes(api: ApiScope, deps: DeviceCaDeps): void {
  apiDevicesRoutes(api, deps);
  apiEnrollmentCodesRoutes(api, { ...deps, registerDevice, withdrawCode });
  apiDeviceCaRoutes(api, deps);
  apiDeviceRootsRoutes(api, { ...deps, trust: deviceTrust });
  apiAllowedEksRoutes(api, { ...deps, trust: deviceTrust });
}

function grantsRoutes(api: ApiScope, deps: ApiDeps): void {
  apiConsentsRoutes(api, deps);
  apiPreauthorizationsRoutes(api, deps);
  apiDetailTypesRoutes(api, deps);
  apiGrantsRoutes(api, deps);
}

function organisationRoutes(api: ApiScope, deps: ApiDeps): void {
  apiOrganisationRoutes(api, deps);
  apiImagesRoutes(api, deps);
  apiSignInRoutes(api, deps);
  apiSignUpRoutes(api, deps);
  apiSignUpsRoutes(api, deps);
  apiLedgerRoute(api, deps);
  apiLedgerWitnessesRoutes(api, deps);
}

function usersRoutes(api: ApiScope, deps: ApiDeps): void {
  apiUsersRoutes(api, deps);
  apiUserSessionsRoutes(api, deps);
  apiImportUsersRoute(api, deps);
  apiIdentitiesRoutes(api, deps);
  apiUserGroupsRoutes(api, deps);
  apiInvitationsRoutes(api, deps);
  // It accepts CSV too, and no other route does.
  api.app.register(async (child) => apiInvitationBatchRoute({ ...api, app: child }, deps));
}

/** Applications, and what tokens for them rest on. */
function ofApplications(api: ApiScope, deps: ApiDeps): void {
  apiApplicationsRoutes(api, deps);
  apiSecretsRoutes(api, deps);
  apiAssignedUsersRoutes(api, deps);
  apiAssignedGroupsRoutes(api, deps);
  apiScopesRoutes(api, deps);
  apiTrustsRoutes(api, deps);
  apiResourcesRoutes(api, deps);
  apiTokenExchangePoliciesRoutes(api, deps);
  apiClientPolicyRoutes(api, deps);
  apiInitialAccessTokensRoutes(api, deps);
  apiClientAuthoritiesRoutes(api, deps);
}
