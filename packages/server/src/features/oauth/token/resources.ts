/** The `resource` parameter (RFC 8707 §2): which protected resources a token is for. */
import type { Form } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";

const MOST_RESOURCES = 10;

export const invalidTarget = () =>
  new OAuthError("invalid_target", "a resource is unknown or not allowed for this client");

/**
 * @param allowed the application's resources, or at the token endpoint those that the authorization was for
 * @throws OAuthError invalid_target for any that is not among them
 */
export function requestedResources(form: Form, allowed: readonly string[]): string[] {
  const first = form.values.get("resource");
  if (first === undefined) return [];
  const resources = [...new Set(form.allValues.get("resource") ?? [first])];
  if (resources.length > MOST_RESOURCES || resources.some((resource) => !allowed.includes(resource))) {
    throw invalidTarget();
  }
  return resources;
}
