/** The wiring of the console: the pages of administrators, which share one frame and one door. */
import type { FastifyInstance } from "fastify";
import { version } from "../config/version.ts";
import { applicationsRoutes } from "../features/admin-console/applications/applications-routes.ts";
import { auditLogRoutes } from "../features/admin-console/audit-log/audit-log-routes.ts";
import { consentsRoutes } from "../features/admin-console/consents/consents.route.ts";
import type { MailSetup } from "../features/admin-console/mail-templates/mail-templates.page.ts";
import { mailTemplatesRoutes } from "../features/admin-console/mail-templates/mail-templates.route.ts";
import { quickstartRoutes } from "../features/admin-console/quickstart/quickstart-routes.ts";
import { scopesRoutes } from "../features/admin-console/scopes/scopes.route.ts";
import { settingsRoutes } from "../features/admin-console/settings/settings.route.ts";
import { systemAccountsPages } from "../features/admin-console/system-accounts/system-accounts-routes.ts";
import { usersRoutes } from "../features/admin-console/users/users-routes.ts";
import type { BrowserDeps } from "../features/oauth/authorize/browser.ts";
import { pageDoor } from "../features/oauth/authorize/browser-session-port.ts";
import { type ErrorHandlerDeps, pageErrorHandler } from "../http/error-handlers.ts";
import { confirmIdentityRoute } from "../page-kit/confirm-identity.route.ts";
import type { ConsoleDeps } from "../page-kit/visit.ts";
import { mountConsoleKeys } from "./console-signing-keys.ts";
import { errorPageRenderer } from "./error-page.ts";
import { mailComposer } from "./mail-content.ts";
import { refreshTokenKey, type Service } from "./open-service.ts";

/** What every page of the console needs. */
export function consoleDeps(service: Service, browser: BrowserDeps, errors: ErrorHandlerDeps): ConsoleDeps {
  return {
    ...service,
    baseUrl: service.config.baseUrl,
    door: pageDoor(browser),
    showError: pageErrorHandler(errors, errorPageRenderer(service)),
  };
}

/** In a scope that knows cookies and forms. */
export function mountConsole(
  scope: FastifyInstance,
  service: Service,
  browser: BrowserDeps,
  errors: ErrorHandlerDeps,
): void {
  const deps = consoleDeps(service, browser, errors);
  confirmIdentityRoute(scope, deps);
  applicationsRoutes(scope, deps);
  const { accessTokens, keys, masterKey, secretUse, signingPools } = service;
  const tokens = { accessTokens, keys, signingPools, refreshTokenKey: refreshTokenKey(masterKey) };
  quickstartRoutes(scope, { ...deps, ...tokens, secretUse, version });
  scopesRoutes(scope, deps);
  consentsRoutes(scope, deps);
  auditLogRoutes(scope, deps);
  settingsRoutes(scope, { ...deps, outbox: service.outbox });
  mailTemplatesRoutes(scope, {
    ...deps,
    outbox: service.outbox,
    compose: mailComposer(deps),
    mailSetup: mailSetup(service),
    rateLimits: service.config.rateLimits,
  });
  usersRoutes(scope, { ...service, ...deps });
  systemAccountsPages(scope, { ...service, ...deps });
  mountConsoleKeys(scope, service, deps);
}

/** Without the password that is among the settings. */
function mailSetup({ mailTransport, config: { mail } }: Service): MailSetup {
  if (!mail) return { kind: mailTransport.kind };
  const { sender, smtp } = mail;
  return {
    kind: mailTransport.kind,
    sender: sender.name === undefined ? sender.address : `${sender.name} <${sender.address}>`,
    server: `${smtp.host}:${smtp.port}`,
  };
}
