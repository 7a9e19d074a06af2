/** What holds for every client that nobody has registered by hand, whatever its record says (modern-oauth.md §5, "Both"). */
import type { Application } from "../applications/application.ts";
import type { ProtectedResource } from "../protected-resources/protected-resource.ts";
import { isApiScope } from "../scopes/api-scopes.ts";
import { AGENT_TOKEN_SECONDS, type ClientPolicy, takesClient } from "./client-policy.ts";

export const isAgent = ({ source }: Pick<Application, "source">): boolean => source !== "registered";

/**
 * One that has registered itself has what its record says, within what its initial access token allowed; one with a metadata
 * document what the policy says now.
 * @returns undefined for one that the policy does not take (any more)
 */
export function asAgent(
  application: Application,
  policy: ClientPolicy,
  resources: readonly ProtectedResource[],
): Application | undefined {
  const { id, settings, source } = application;
  const isDynamic = source === "dynamic";
  if (!isDynamic && !takesClient(policy, id)) return undefined;
  const { allowedScopes, allowedResources } = isDynamic ? settings : policy;
  const denied = new Set(resources.flatMap(({ agentDeniedScopes }) => agentDeniedScopes));
  const dpop = policy.senderConstraint === "required" ? { dpopBoundAccessTokens: true } : {};
  return {
    ...application,
    settings: {
      ...settings,
      // Whoever has set them: the API is for clients that somebody has registered.
      allowedScopes: allowedScopes.filter((scope) => !denied.has(scope) && !isApiScope(scope)),
      allowedResources,
      accessTokenLifetimeSeconds: Math.min(settings.accessTokenLifetimeSeconds, AGENT_TOKEN_SECONDS),
      requireConsent: true,
      consentMode: "user",
      ...dpop,
    },
  };
}
