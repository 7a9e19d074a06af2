/** Bearer authentication: the user of an access token with the scope `openid` (RFC 6750). */
import { bearerChallenge, parseBearer } from "@signet/protocol/oauth/authorization-header";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { ApplicationDirectory } from "../../core/applications/applications.ts";
import type { PresentedDeviceDeps } from "../../core/devices/presented-device.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { AccessTokens } from "../../core/tokens/access-tokens.ts";
import type { AccessTokenClaims } from "../../core/tokens/claims.ts";
import type { User } from "../../core/users/user.ts";
import { findUser } from "../../core/users/users.store.ts";
import type { Database } from "../../db/open.ts";
import type { Call } from "../../http/calls/call.ts";
import { hasValidBinding } from "./client-authentication/client-device.ts";

export interface BearerDeps extends PresentedDeviceDeps {
  readonly database: Database;
  readonly applications: ApplicationDirectory;
  readonly accessTokens: AccessTokens;
}

export interface BearerAuthentication {
  readonly user: User;
  readonly claims: AccessTokenClaims;
  /** Those of the token that were granted to its client. */
  readonly scopes: readonly string[];
}

/** @throws OAuthError with the challenge of RFC 6750 §3 */
export async function authenticateBearer(
  deps: BearerDeps,
  organisation: Organisation,
  call: Call,
): Promise<BearerAuthentication> {
  const { claims, scopes } = await authenticateToken(deps, organisation, call, "openid");
  const user = await findUser(deps.database.query, organisation.id, claims.sub);
  if (!user) throw bearerError(organisation, "invalid_token", "the access token has no user");
  return { user, claims, scopes };
}

/** Of a user or of a client itself. @throws OAuthError with the challenge of RFC 6750 §3 */
export async function authenticateToken(
  deps: BearerDeps,
  organisation: Organisation,
  call: Call,
  scope: string,
): Promise<Omit<BearerAuthentication, "user">> {
  const token = presentedToken(call, organisation);
  const claims = await deps.accessTokens.read(organisation, token);
  const scopes = claims && (await deps.accessTokens.activeScopes(organisation, claims));
  if (!scopes) {
    throw bearerError(organisation, "invalid_token", "the access token is expired, revoked or invalid");
  }
  if (!(await hasValidBinding(deps, organisation, call, claims)))
    throw bearerError(
      organisation,
      "invalid_token",
      "the access token is bound to a certificate that the request does not have",
    );
  if (!scopes.includes(scope))
    throw bearerError(organisation, "insufficient_scope", `the scope ${scope} is required`, scope);
  return { claims, scopes };
}

/** In the header or in the form, not in both (RFC 6750 §2); a query would end up in logs. */
function presentedToken({ form, headers, query }: Call, organisation: Organisation): string {
  if (form.repeated.size > 0) {
    throw bearerError(organisation, "invalid_request", "a parameter is repeated");
  }
  const inBody = form.values.get("access_token");
  const { authorization } = headers;
  if (query().values.has("access_token")) {
    throw bearerError(organisation, "invalid_request", "the access token must not be in the query");
  }
  if (authorization !== undefined && inBody !== undefined) {
    throw bearerError(organisation, "invalid_request", "the access token was sent twice");
  }
  const token = inBody ?? parseBearer(authorization);
  if (token !== undefined) return token;
  // RFC 6750 §3.1: the challenge for a request without credentials has no error code.
  throw new OAuthError("invalid_token", "an access token is required", {
    wwwAuthenticate: bearerChallenge(organisation.id),
  });
}

function bearerError(
  organisation: Organisation,
  code: "invalid_request" | "invalid_token" | "insufficient_scope",
  description: string,
  scope?: string,
): OAuthError {
  return new OAuthError(code, description, {
    wwwAuthenticate: bearerChallenge(organisation.id, code, description, scope),
  });
}
