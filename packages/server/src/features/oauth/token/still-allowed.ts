/** What was granted earlier, judged by what the application may have now: every grant that redeems something asks here. */
import type { Form } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Application } from "../../../core/applications/application.ts";
import { grantableScopes } from "../../../core/scopes/scopes.ts";
import { invalidTarget, requestedResources } from "./resources.ts";

/** @throws OAuthError invalid_grant when none is left */
export function stillAllowedScopes(granted: readonly string[], { settings }: Application): string[] {
  const scopes = grantableScopes(granted, settings.allowedScopes);
  if (scopes.length > 0) return scopes;
  const cause = "the application may have none of its scopes any more";
  throw new OAuthError("invalid_grant", "what was granted is no longer allowed", { cause });
}

/**
 * The resources of this token: those that the request names (RFC 8707 §2.2: a part of what was granted), or all that are
 * left. @throws OAuthError invalid_target
 */
export function stillAllowedResources(
  form: Form,
  granted: readonly string[],
  { settings }: Application,
): readonly string[] {
  const left = granted.filter((resource) => settings.allowedResources.includes(resource));
  // None left is not none asked for, which would be a token for another audience.
  if (granted.length > 0 && left.length === 0) throw invalidTarget();
  return form.values.has("resource") ? requestedResources(form, left) : left;
}
