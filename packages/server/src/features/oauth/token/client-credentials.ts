/** Client credentials grant (RFC 6749 §4.4): the client is the subject; no refresh token, no ID token. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { parseScope } from "@signet/protocol/oauth/scope";
import { identityScopes } from "../../../core/applications/application.ts";
import { grantableScopes } from "../../../core/scopes/scopes.ts";
import { releaseTokens } from "../../../core/tokens/signer.ts";
import { type Grant, type GrantRequest, requestedResources } from "./grant.ts";

export const clientCredentialsGrant: Grant = {
  grantType: "client_credentials",
  validate: async (request) => {
    const resources = requestedResources(request.form, request.application.settings.allowedResources);
    return { resources, scopes: grantedScopes(request) };
  },
  consume: async (_request, _basis, signed) => ({ tokens: await releaseTokens(signed) }),
};

/** All allowed scopes when the request names none. The identity scopes mean nothing without a user. */
function grantedScopes({ form, application }: GrantRequest): string[] {
  const identity: readonly string[] = identityScopes;
  const allowed = application.settings.allowedScopes.filter((scope) => !identity.includes(scope));
  const text = form.values.get("scope");
  if (text === undefined) return allowed;
  const requested = parseScope(text);
  const granted = requested && grantableScopes(requested, allowed);
  if (!granted || granted.length === 0)
    throw new OAuthError("invalid_scope", "none of the requested scopes is allowed", {
      reason: "scope-not-allowed",
    });
  return granted;
}
