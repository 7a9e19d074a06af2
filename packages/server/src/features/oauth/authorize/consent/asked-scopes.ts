/** What an authorization request needs the user's yes for: its scopes, and those that the claims it names belong to. */
import type { AskedScopes } from "../../../../core/consents/consent.ts";
import { type CustomScope, fingerprintsOf } from "../../../../core/scopes/custom-scope.ts";
import {
  noRequestedClaims,
  type RequestedClaims,
  readableClaims,
} from "../../../../core/scopes/requested-claims.ts";
import type { AuthorizationRequest } from "../request/authorization-request.ts";

export interface Asked extends AskedScopes {
  /** Of the `claims` parameter, what means something here. */
  readonly requestedClaims: RequestedClaims;
}

/**
 * A claim asked for by name counts as its scope for consent (OpenID Connect Core §5.5 leaves it open): the page shows the
 * scope's sentence, and who has said yes to the scope is not asked again for a part of it.
 */
export function askedScopes(
  request: Pick<AuthorizationRequest, "application" | "scopes" | "requestedClaims">,
  customScopes: readonly CustomScope[],
): Asked {
  const { allowedScopes } = request.application.settings;
  // Without `openid` there is neither an ID token nor userinfo to tell them in.
  const isOpenId = request.scopes.includes("openid");
  const named = readableClaims(
    isOpenId ? request.requestedClaims : noRequestedClaims,
    allowedScopes,
    customScopes,
  );
  const scopes = [...new Set([...request.scopes, ...named.scopes])];
  return { scopes, fingerprints: fingerprintsOf(customScopes, scopes), requestedClaims: named.requested };
}
