/** OAuth's JSON endpoints: token, device authorization, CIBA, revocation, introspection, userinfo. No cookies; CORS for clients. */
import { isUuid } from "@signet/protocol/hash";
import { backchannelAuthenticationRoute } from "../features/oauth/ciba/backchannel-authentication.route.ts";
import { deviceRoute } from "../features/oauth/device-grant/device-authorization.route.ts";
import { entitledPagesRoute } from "../features/oauth/entitled-pages.route.ts";
import { introspectRoute } from "../features/oauth/introspect.route.ts";
import { parRoute } from "../features/oauth/par/par.route.ts";
import { revokeRoute } from "../features/oauth/revoke.route.ts";
import { authorizationCodeGrant } from "../features/oauth/token/authorization-code.ts";
import { cibaGrant } from "../features/oauth/token/ciba.ts";
import { clientCredentialsGrant } from "../features/oauth/token/client-credentials.ts";
import { jwtBearerGrant } from "../features/oauth/token/delegation/jwt-bearer.ts";
import { tokenExchangeGrant } from "../features/oauth/token/delegation/token-exchange.ts";
import { deviceCodeGrant } from "../features/oauth/token/device-code.ts";
import { refreshTokenGrant } from "../features/oauth/token/refresh-token.ts";
import { tokenRoute } from "../features/oauth/token/token.route.ts";
import { userinfoRoutes } from "../features/oauth/userinfo.route.ts";
import { clientCors } from "../http/cors.ts";
import { oauthErrorHandler } from "../http/error-handlers.ts";
import { acceptForms } from "../http/form-body.ts";
import type { Module } from "./app-context.ts";
import { refreshTokenKeys, type Service } from "./open-service.ts";

export const tokenEndpoints: Module = (
  scope,
  { service, sovereign: { poolSigning }, browser, errors, calls },
) => {
  const { baseUrl, mtlsBaseUrl, rateLimits } = service.config;
  const deps = {
    ...service,
    baseUrl,
    mtlsBaseUrl,
    rateLimits,
    recordSecretUse: service.secretUse.note,
    refreshTokenKeys: refreshTokenKeys(service.masterKeys),
    poolSigning,
  };
  acceptForms(scope);
  scope.setErrorHandler(oauthErrorHandler(errors));
  clientCors(
    scope,
    [
      "/oauth/:org/token",
      "/oauth/:org/revoke",
      "/oauth/:org/userinfo",
      ...["roles", "groups", "permissions"].map((claim) => `/oauth/:org/userinfo/${claim}`),
      "/oauth/:org/device",
      "/oauth/:org/par",
    ],
    (orgId, origin) => isClientOrigin(service, orgId, origin),
  );
  tokenRoute(scope, calls, {
    ...deps,
    grants: [
      authorizationCodeGrant(deps),
      refreshTokenGrant(deps),
      clientCredentialsGrant(deps),
      deviceCodeGrant(deps),
      cibaGrant(deps),
      jwtBearerGrant(deps),
      tokenExchangeGrant(deps),
    ],
  });
  parRoute(scope, calls, { ...deps, flows: browser.flows });
  deviceRoute(scope, deps);
  backchannelAuthenticationRoute(scope, calls, { ...deps, outbox: browser.outbox });
  revokeRoute(scope, deps);
  introspectRoute(scope, calls, deps);
  userinfoRoutes(scope, calls, deps);
  entitledPagesRoute(scope, calls, deps);
};

async function isClientOrigin(
  { organisations, applications }: Service,
  orgId: string,
  origin: string,
): Promise<boolean> {
  if (!isUuid(orgId) || !(await organisations.find(orgId))) return false;
  return (await applications.findByOrigin(orgId, origin)).length > 0;
}
