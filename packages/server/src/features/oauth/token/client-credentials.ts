/** The client credentials grant (RFC 6749 §4.4): the client speaks for itself; no refresh token, no ID token. */

import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { parseScope } from "@signet/protocol/oauth/scope";
import { identityScopes } from "../../../core/applications/application.ts";
import { grantableScopes } from "../../../core/scopes/scopes.ts";
import type { Grant, GrantRequest } from "./grant.ts";
import { requestedResources } from "./resources.ts";

export const clientCredentialsGrant: Grant = {
  grantType: "client_credentials",
  read: async (request) => {
    const resources = requestedResources(request.form, request.application.settings.allowedResources);
    const subject = {
      issuer: request.issuer,
      application: request.application,
      scopes: grantedScopes(request),
      resources,
    };
    return {
      subject,
      commit: async (release) => {
        await release?.();
        return {};
      },
    };
  },
};

/** All that the client may have when it asks for nothing; the scopes about a user have no meaning without one. */
function grantedScopes({ form, application }: GrantRequest): string[] {
  const identity: readonly string[] = identityScopes;
  const allowed = application.settings.allowedScopes.filter((scope) => !identity.includes(scope));
  const text = form.values.get("scope");
  if (text === undefined) return allowed;
  const asked = parseScope(text);
  const granted = asked && grantableScopes(asked, allowed);
  if (!granted || granted.length === 0)
    throw new OAuthError("invalid_scope", "none of the scopes may be granted");
  return granted;
}
