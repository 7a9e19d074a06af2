/** What a client must do to its authorization requests: push them (RFC 9126), sign them (RFC 9101). */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { ApplicationSettings } from "../../../../core/applications/application.ts";
import { isFapi, signsMessages } from "../../../../core/applications/security-profile.ts";
import type { Organisation } from "../../../../core/organisations/organisation.ts";
import type { FlowOrigin } from "../flow.ts";

/** @throws OAuthError invalid_request, for the client */
export function requireOrigin(
  organisation: Organisation,
  { settings }: { readonly settings: ApplicationSettings },
  { pushed, isSigned = false }: FlowOrigin = {},
): void {
  const mustPush =
    isFapi(settings) ||
    settings.requirePushedAuthorizationRequests ||
    organisation.settings.requirePushedAuthorizationRequests;
  if (mustPush && pushed === undefined)
    throw new OAuthError("invalid_request", "authorization requests must be pushed (RFC 9126)", {
      reason: "request-object",
    });
  if ((settings.requireSignedRequestObject || signsMessages(settings)) && !isSigned)
    throw new OAuthError("invalid_request", "authorization requests must be signed (RFC 9101)", {
      reason: "request-object",
    });
}
