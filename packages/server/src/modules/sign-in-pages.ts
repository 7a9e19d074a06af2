/** The pages of the sign-in, from authorization to sign-out, and those of the signed-in user. */
import type { FastifyInstance } from "fastify";
import { version } from "../config/version.ts";
import { takeCertificates } from "../core/connections/saml/renew-certificates.ts";
import { recordConnectionKeys } from "../core/connections/sign-in/connection-keys.ts";
import { deriveKeys } from "../core/encryption/key-ring.ts";
import { macs } from "../core/encryption/macs.ts";
import { accountRoutes } from "../features/account-ui/account-routes.ts";
import { consentsRoutes } from "../features/account-ui/consents/consents.route.ts";
import { federationLoginRoutes } from "../features/federation/login.route.ts";
import type { BrowserDeps } from "../features/oauth/authorize/browser.ts";
import { browserSessionPort } from "../features/oauth/authorize/browser-session-port.ts";
import { consentRoute } from "../features/oauth/authorize/consent/consent.route.ts";
import { passkeyOfferRoute } from "../features/oauth/authorize/factors/passkey-offer.route.ts";
import { twoFactorRoute } from "../features/oauth/authorize/factors/two-factor.route.ts";
import { magicLinkRoutes } from "../features/oauth/authorize/passwordless/magic-link.route.ts";
import { authorizeRoutes } from "../features/oauth/authorize/request/authorize.route.ts";
import { breakGlassRoutes } from "../features/oauth/authorize/sign-in/break-glass.route.ts";
import { loginRoute } from "../features/oauth/authorize/sign-in/login.route.ts";
import { termsRoute } from "../features/oauth/authorize/terms/terms.route.ts";
import { authenticateBearer } from "../features/oauth/bearer-authentication.ts";
import { cibaRequestRoutes } from "../features/oauth/ciba/request.route.ts";
import { upstreamBackchannelLogoutRoute } from "../features/oauth/connections/backchannel-logout.route.ts";
import { connectionCallbackRoute } from "../features/oauth/connections/callback.route.ts";
import { emailCodeRoutes } from "../features/oauth/connections/first-sign-in/email-code.route.ts";
import { linkAccountRoutes } from "../features/oauth/connections/first-sign-in/link-account.route.ts";
import { githubUpstream } from "../features/oauth/connections/github/github-upstream.ts";
import { linkStartUri } from "../features/oauth/connections/link-own-account.ts";
import { oidcUpstream } from "../features/oauth/connections/oidc/oidc-upstream.ts";
import { samlAcsRoute } from "../features/oauth/connections/saml/acs.route.ts";
import { samlUpstream } from "../features/oauth/connections/saml/authn-request.ts";
import { samlFinishRoute } from "../features/oauth/connections/saml/finish.route.ts";
import { samlMetadataRoute } from "../features/oauth/connections/saml/metadata.route.ts";
import { samlKeys } from "../features/oauth/connections/saml/provider-keys.ts";
import { samlSloRoutes } from "../features/oauth/connections/saml/slo.route.ts";
import { connectionStartRoute } from "../features/oauth/connections/start.route.ts";
import { connectionTestRoute } from "../features/oauth/connections/test.route.ts";
import { refreshBindingRoute } from "../features/oauth/device-bound-sessions/refresh.route.ts";
import { registerBindingRoute } from "../features/oauth/device-bound-sessions/register.route.ts";
import { shortAddressRoutes } from "../features/oauth/device-grant/short-address.route.ts";
import { verifyRoutes } from "../features/oauth/device-grant/verify.route.ts";
import { endSessionRoutes } from "../features/oauth/end-session/end-session.route.ts";
import { actionPageRoutes } from "../features/oauth/recovery/action.route.ts";
import { newPasswordRoutes } from "../features/oauth/recovery/new-password.route.ts";
import { recoveryRoute } from "../features/oauth/recovery/recovery.route.ts";
import { shortLinkRoutes } from "../features/oauth/recovery/short-link.route.ts";
import { verifyEmailRoutes } from "../features/oauth/recovery/verify-email.route.ts";
import { commonEntryRoutes } from "../features/oauth/shared-applications/common-entry.route.ts";
import { answerNotEnabled } from "../features/oauth/shared-applications/not-enabled.ts";
import { completeSignUpRoute } from "../features/oauth/sign-up/complete.route.ts";
import { signUpRoute } from "../features/oauth/sign-up/sign-up.route.ts";
import { callOf } from "../http/calls/call-route.ts";
import { firstSignInCookies } from "../http/cookies/browser-cookies.ts";
import { oauthErrorHandler, pageErrorHandler } from "../http/error-handlers.ts";
import type { Visit } from "../page-kit/page.ts";
import type { Module } from "./app-context.ts";
import { errorPageRenderer } from "./error-page.ts";
import type { Service } from "./open-service.ts";

function connectionRoutes(scope: FastifyInstance, browser: BrowserDeps, service: Service): void {
  const keysDeps = { ...service, outbox: browser.outbox, baseUrl: browser.baseUrl };
  const startMacs = macs(deriveKeys(service.masterKeys, "connection-start"));
  const deps = {
    ...browser,
    changes: service.changes,
    startMacs,
    codeMacs: macs(deriveKeys(service.masterKeys, "email-code")),
    firstSignIns: firstSignInCookies(browser.baseUrl),
    upstreams: {
      oidc: oidcUpstream({
        ...service,
        onKeys: (connection, thumbprints) => recordConnectionKeys(keysDeps, connection, thumbprints),
      }),
      oauth: githubUpstream(service),
      saml: samlUpstream({ ...service, startMacs, baseUrl: browser.baseUrl }),
    },
    samlKeys: samlKeys({
      ...service,
      onCertificates: (connection, certificates) => takeCertificates(keysDeps, connection, certificates),
    }),
  };
  connectionStartRoute(scope, deps);
  connectionCallbackRoute(scope, deps);
  samlMetadataRoute(scope, deps);
  samlAcsRoute(scope, deps);
  samlFinishRoute(scope, deps);
  samlSloRoutes(scope, deps);
  connectionTestRoute(scope, deps);
  emailCodeRoutes(scope, deps);
  magicLinkRoutes(scope, deps);
  linkAccountRoutes(scope, deps);
  upstreamBackchannelLogoutRoute(scope, deps);
  endSessionRoutes(scope, deps);
}

export const signInPages: Module = (scope, { service, browser }) => {
  authorizeRoutes(scope, { ...browser, answerNotEnabled });
  commonEntryRoutes(scope, browser);
  const firstSignIns = firstSignInCookies(browser.baseUrl);
  loginRoute(scope, { ...browser, passwords: service.passwords, firstSignIns });
  breakGlassRoutes(scope, { ...browser, passwords: service.passwords });
  twoFactorRoute(scope, browser);
  passkeyOfferRoute(scope, browser);
  termsRoute(scope, browser);
  signUpRoute(scope, browser);
  completeSignUpRoute(scope, { ...browser, passwords: service.passwords });
  consentRoute(scope, browser);
  registerBindingRoute(scope, browser);
  refreshBindingRoute(scope, browser);
  connectionRoutes(scope, browser, service);
  verifyRoutes(scope, browser);
  shortAddressRoutes(scope, browser);
  cibaRequestRoutes(scope, browser);
  federationLoginRoutes(scope, { ...service, browserSession: browserSessionPort(browser) });
};

/** What the links in mails lead to, and the ways to a forgotten password. */
export const recoveryPages: Module = (scope, { service, browser }) => {
  const deps = { ...browser, passwords: service.passwords };
  recoveryRoute(scope, browser);
  shortLinkRoutes(scope, browser);
  newPasswordRoutes(scope, deps);
  actionPageRoutes(scope, deps);
  verifyEmailRoutes(scope, browser);
};

export const accountPages: Module = (scope, { service, browser, errors }) => {
  const deps = {
    ...browser,
    ...browser.secondFactors,
    changes: service.changes,
    passwords: service.passwords,
    browserSession: browserSessionPort(browser),
    version,
    linkConnectionUri: (visit: Visit, connectionId: string, userId: string) =>
      linkStartUri(browser, visit, connectionId, userId),
  };
  accountRoutes(scope, deps);
  consentsRoutes(scope, {
    ...deps,
    authenticateBearer: (organisation, request) =>
      authenticateBearer({ ...service, ...service.config }, organisation, callOf(request)),
    errorHandlers: {
      program: oauthErrorHandler(errors),
      page: pageErrorHandler(errors, errorPageRenderer(service)),
    },
  });
};
