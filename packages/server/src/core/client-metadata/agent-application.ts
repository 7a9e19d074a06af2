/** What holds for every client that nobody has registered by hand, whatever its record says (modern-oauth.md §5, "Both"). */
import type { Application } from "../applications/application.ts";
import type { ProtectedResource } from "../protected-resources/protected-resource.ts";
import { AGENT_TOKEN_SECONDS, type ClientPolicy, takesClient } from "./client-policy.ts";

export const isAgent = ({ source }: Pick<Application, "source">): boolean => source !== "registered";

/** @returns undefined for one that the policy does not take (any more) */
export function asAgent(
  application: Application,
  policy: ClientPolicy,
  resources: readonly ProtectedResource[],
): Application | undefined {
  const { id, settings } = application;
  if (!takesClient(policy, id)) return undefined;
  const denied = new Set(resources.flatMap(({ agentDeniedScopes }) => agentDeniedScopes));
  const dpop = policy.senderConstraint === "required" ? { dpopBoundAccessTokens: true } : {};
  return {
    ...application,
    settings: {
      ...settings,
      allowedScopes: policy.allowedScopes.filter((scope) => !denied.has(scope)),
      allowedResources: policy.allowedResources,
      accessTokenLifetimeSeconds: Math.min(settings.accessTokenLifetimeSeconds, AGENT_TOKEN_SECONDS),
      requireConsent: true,
      consentMode: "user",
      ...dpop,
    },
  };
}
