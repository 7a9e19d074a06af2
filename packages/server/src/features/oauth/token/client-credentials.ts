/** Client credentials grant (RFC 6749 §4.4): the client is the subject; no refresh token, no ID token. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { parseScope } from "@signet/protocol/oauth/scope";
import {
  type AccessDeps,
  nameableBy,
  readAccessRules,
} from "../../../core/protected-resources/asked-access.ts";
import { apiAudience, apiScopesOf } from "../../../core/scopes/api-scopes.ts";
import { definitionsOf } from "../../../core/scopes/scope-definitions.ts";
import {
  entitlementScopes,
  grantableScopes,
  standardScopes,
  withoutCustom,
} from "../../../core/scopes/scopes.ts";
import { releaseTokens } from "../../../core/tokens/signer.ts";
import {
  type Grant,
  type GrantBasis,
  type GrantRequest,
  refuseDetails,
  requestedResources,
} from "./grant.ts";

export const clientCredentialsGrant = (deps: AccessDeps): Grant => ({
  grantType: "client_credentials",
  validate: (request) => ownScopes(deps, request),
  consume: async (_request, _basis, signed) => ({ tokens: await releaseTokens(signed) }),
});

/** What a client gets that is itself the subject. @throws OAuthError invalid_scope, invalid_target */
export async function ownScopes(deps: AccessDeps, request: GrantRequest): Promise<GrantBasis> {
  const { form, application, organisation } = request;
  refuseDetails(form);
  const { allowedScopes, signingPoolId } = application.settings;
  const rules = await readAccessRules(deps, organisation.id);
  const { customScopes: defined } = rules;
  const api = apiAudience(deps.baseUrl);
  const ofApi = apiScopesOf(allowedScopes, defined);
  const nameable = nameableBy(application, rules);
  // Unlike a user's, a client's own token for the API may be signed by a pool.
  const own = ofApi.length > 0 && signingPoolId !== undefined ? [...nameable, api] : nameable;
  const resources = requestedResources(form, own);
  // A token that is asked for other services alone gives those no access to the API (RFC 8707 §2.2).
  const kept = resources.length > 0 && !resources.includes(api) ? ofApi : [];
  const ofUsers = standardScopes.filter((scope) => !entitlementScopes.some((one) => one === scope));
  const scopes = grantedScopes(request, [...withoutCustom(ofUsers, defined), ...kept]);
  return { resources, scopes, definitions: definitionsOf(defined, scopes) };
}

/**
 * All allowed scopes when the request names none. Most standard scopes tell of a user, and mean nothing without one; what a
 * client itself may do is told like what a user may.
 * @param without scopes that are not granted, allowed or not
 */
function grantedScopes({ form, application }: GrantRequest, without: readonly string[]): string[] {
  const allowed = application.settings.allowedScopes.filter((scope) => !without.includes(scope));
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
