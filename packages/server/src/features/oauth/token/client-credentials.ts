/** Client credentials grant (RFC 6749 §4.4): the client is the subject; no refresh token, no ID token. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { parseScope } from "@signet/protocol/oauth/scope";
import type { CustomScopeDirectory } from "../../../core/scopes/custom-scopes.ts";
import { definitionsOf } from "../../../core/scopes/scope-definitions.ts";
import { grantableScopes, standardScopes, withoutCustom } from "../../../core/scopes/scopes.ts";
import { releaseTokens } from "../../../core/tokens/signer.ts";
import { type Grant, type GrantRequest, requestedResources } from "./grant.ts";

export function clientCredentialsGrant({
  customScopes,
}: {
  readonly customScopes: Pick<CustomScopeDirectory, "list">;
}): Grant {
  return {
    grantType: "client_credentials",
    validate: async (request) => {
      const resources = requestedResources(request.form, request.application.settings.allowedResources);
      const defined = await customScopes.list(request.organisation.id);
      const scopes = grantedScopes(request, withoutCustom(standardScopes, defined));
      return { resources, scopes, definitions: definitionsOf(defined, scopes) };
    },
    consume: async (_request, _basis, signed) => ({ tokens: await releaseTokens(signed) }),
  };
}

/** All allowed scopes when the request names none. The standard scopes tell of a user, and mean nothing without one. */
function grantedScopes({ form, application }: GrantRequest, identity: readonly string[]): string[] {
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
