/** The admin console: every page that administrators manage their organisation with, except its devices. */
import cookie from "@fastify/cookie";
import { version } from "../config/version.ts";
import { offersMail } from "../core/organisations/sign-in-methods.ts";
import { applicationsRoutes } from "../features/admin-console/applications/applications-routes.ts";
import { applicationList } from "../features/admin-console/applications/list.route.ts";
import { auditLogRoutes } from "../features/admin-console/audit-log/audit-log.route.ts";
import { auditLogFilters } from "../features/admin-console/audit-log/saved-home.ts";
import { breakGlassRoutes } from "../features/admin-console/break-glass/break-glass.route.ts";
import { clientAuthoritiesRoutes } from "../features/admin-console/client-authorities/client-authorities.route.ts";
import { clientPolicyRoute } from "../features/admin-console/client-policy/client-policy.route.ts";
import { commandMenuRoute } from "../features/admin-console/command-menu/search.route.ts";
import { connectionList } from "../features/admin-console/connections/connection-list.ts";
import { connectionsRoutes } from "../features/admin-console/connections/connections.route.ts";
import { consentList } from "../features/admin-console/consents/consent-list.ts";
import { consentsRoutes } from "../features/admin-console/consents/consents.route.ts";
import { preauthorizationList } from "../features/admin-console/consents/preauthorization-list.ts";
import { detailTypesRoutes } from "../features/admin-console/detail-types/detail-types.route.ts";
import { domainsRoutes } from "../features/admin-console/domains/domains.route.ts";
import { groupList } from "../features/admin-console/groups/group-list.ts";
import { groupsRoutes } from "../features/admin-console/groups/groups.route.ts";
import { initialAccessTokensRoutes } from "../features/admin-console/initial-access-tokens/initial-access-tokens.route.ts";
import { ledgerRoutes } from "../features/admin-console/ledger/ledger.route.ts";
import type { MailSetup } from "../features/admin-console/mail-templates/mail-templates.page.ts";
import { mailTemplatesRoutes } from "../features/admin-console/mail-templates/mail-templates.route.ts";
import { overviewRoute } from "../features/admin-console/overview/overview.route.ts";
import { portalRoutes } from "../features/admin-console/portal/home.route.ts";
import { quickstartRoutes } from "../features/admin-console/quickstart/quickstart.route.ts";
import { resourcesRoutes } from "../features/admin-console/resources/resources.route.ts";
import { roleList } from "../features/admin-console/roles/role-list.ts";
import { rolesRoutes } from "../features/admin-console/roles/roles.route.ts";
import {
  type FilterHomes,
  savedFilterRoutes,
} from "../features/admin-console/saved-filters/saved-filters.route.ts";
import { scopeList } from "../features/admin-console/scopes/scope-list.ts";
import { scopesRoutes } from "../features/admin-console/scopes/scopes.route.ts";
import { settingsRoutes } from "../features/admin-console/settings/settings.route.ts";
import type { SignInPreviewDeps } from "../features/admin-console/settings/show-sign-in.ts";
import { sharedApplicationsRoutes } from "../features/admin-console/shared-applications/shared-applications.route.ts";
import { signingKeysRoutes } from "../features/admin-console/signing-keys/signing-keys.route.ts";
import { accountList } from "../features/admin-console/system-accounts/list.route.ts";
import { systemAccountsPages } from "../features/admin-console/system-accounts/system-accounts-routes.ts";
import { tokenExchangeRoutes } from "../features/admin-console/token-exchange/token-exchange.route.ts";
import { trustsRoutes } from "../features/admin-console/trusts/trusts.route.ts";
import { userList } from "../features/admin-console/users/list.route.ts";
import { usersRoutes } from "../features/admin-console/users/users-routes.ts";
import { webhookList } from "../features/admin-console/webhooks/webhook-list.ts";
import { webhooksRoutes } from "../features/admin-console/webhooks/webhooks.route.ts";
import { codeList } from "../features/device-identity/admin/code-list.ts";
import { deviceList } from "../features/device-identity/admin/device-list.ts";
import { browserSessionPort } from "../features/oauth/authorize/browser-session-port.ts";
import { loginPage } from "../features/oauth/authorize/sign-in/login.page.ts";
import { poolList } from "../features/sovereign/console/pool-list.ts";
import { poolRoutes } from "../features/sovereign/console/pools.route.ts";
import { notFoundHandler, pageErrorHandler } from "../http/error-handlers.ts";
import { homeOfList, type SavedList } from "../page-kit/list/saved-filters.ts";
import { notFoundInFrame } from "../page-kit/not-found.ts";
import type { ConsoleDeps } from "../page-kit/page.ts";
import { confirmIdentityRoute } from "../page-kit/reauthentication.ts";
import type { AppContext, Module } from "./app-context.ts";
import { errorPageRenderer } from "./error-page.ts";
import { mailComposer } from "./mail-content.ts";
import { refreshTokenKeys, type Service } from "./open-service.ts";

export function consoleDeps({ service, browser, errors }: AppContext): ConsoleDeps {
  const browserSession = browserSessionPort(browser);
  const render = notFoundInFrame({ ...service, browserSession }, errorPageRenderer(service));
  const { baseUrl } = service.config;
  const logFault = (error: unknown, requestId: string) => errors.log(error, requestId, 500);
  return {
    ...service,
    ...{ baseUrl, version, browserSession, logFault },
    showError: pageErrorHandler(errors, render),
  };
}

/** Addresses below the console that no page has. */
export const unknownConsoleAddresses: Module = async (scope, app) => {
  const deps = consoleDeps(app);
  for (const prefix of ["/oauth/manage", "/devices/manage"])
    await scope.register(
      async (inner) => {
        await inner.register(cookie);
        inner.setNotFoundHandler(notFoundHandler(notFoundInFrame(deps, errorPageRenderer(app.service))));
      },
      { prefix },
    );
};

export const adminConsole: Module = (scope, app) => {
  const { service } = app;
  const { accessTokens, keys, masterKeys, outbox, secretUse, signingPools } = service;
  const { keyRotationDays, rateLimits } = service.config;
  const deps = consoleDeps(app);
  const hasMail = service.mailTransport.kind !== "none";
  confirmIdentityRoute(scope, deps);
  commandMenuRoute(scope, deps);
  rolesRoutes(scope, { ...service, ...deps });
  applicationsRoutes(scope, { ...service, ...deps });
  const tokens = { accessTokens, keys, signingPools, refreshTokenKeys: refreshTokenKeys(masterKeys) };
  quickstartRoutes(scope, { ...deps, ...tokens, secretUse });
  resourcesRoutes(scope, deps);
  trustsRoutes(scope, deps);
  tokenExchangeRoutes(scope, deps);
  clientPolicyRoute(scope, deps);
  initialAccessTokensRoutes(scope, deps);
  clientAuthoritiesRoutes(scope, deps);
  scopesRoutes(scope, deps);
  detailTypesRoutes(scope, deps);
  consentsRoutes(scope, deps);
  sharedApplicationsRoutes(scope, deps);
  auditLogRoutes(scope, deps);
  savedFilterRoutes(scope, deps, filterHomes);
  settingsRoutes(scope, { ...deps, outbox, signInPage });
  const compose = mailComposer(deps);
  mailTemplatesRoutes(scope, { ...deps, outbox, compose, mailSetup: mailSetup(service), rateLimits });
  groupsRoutes(scope, deps);
  connectionsRoutes(scope, { ...service, ...deps });
  domainsRoutes(scope, { ...deps, lookUpTxt: service.lookUpTxt });
  webhooksRoutes(scope, { ...deps, encryption: service.encryption });
  breakGlassRoutes(scope, deps);
  ledgerRoutes(scope, deps);
  portalRoutes(scope, deps);
  usersRoutes(scope, { ...service, ...deps, rateLimits });
  systemAccountsPages(scope, { ...service, ...deps });
  overviewRoute(scope, { ...deps, applications: service.applications, keyRotationDays, hasMail });
  signingKeysRoutes(scope, { ...deps, ...service, baseUrl: deps.baseUrl, keyRotationDays });
  poolRoutes(scope, deps);
};

const listsWithFilters: ReadonlyArray<SavedList & { readonly savedAs: string }> = [
  ...[
    applicationList,
    userList,
    groupList,
    roleList,
    accountList,
    scopeList,
    consentList,
    preauthorizationList,
  ],
  ...[connectionList, webhookList, poolList, deviceList, codeList],
];

/** By the name that they are stored under. */
const filterHomes: FilterHomes = {
  "audit-log": auditLogFilters,
  ...Object.fromEntries(listsWithFilters.map((list) => [list.savedAs, homeOfList(list)])),
};

/** As an application's users see it; nothing in it is sent anywhere. */
const signInPage: SignInPreviewDeps["signInPage"] = (frame, organisation, methods) =>
  loginPage({
    ...{ ...frame, organisation, application: { name: organisation.name } },
    ...{ csrf: "", flow: "", action: "", recoveryUri: "#", passkey: "{}", methods },
    stage: offersMail({ signInMethods: methods }) ? "email" : undefined,
  });

/** The mail settings without their password. */
function mailSetup({ mailTransport, config: { mail } }: Service): MailSetup {
  if (!mail) return { kind: mailTransport.kind };
  const { sender, smtp } = mail;
  return {
    kind: mailTransport.kind,
    sender: sender.name === undefined ? sender.address : `${sender.name} <${sender.address}>`,
    server: `${smtp.host}:${smtp.port}`,
  };
}
