/** What an authorization request needs consent for: its scopes, and the scopes of individually requested claims. */
import type { AuthorizationDetail, DetailType } from "../../../../core/authorization-details/detail-type.ts";
import { fillTemplate } from "../../../../core/authorization-details/template.ts";
import type { DescribedDetail, RequestedScopes } from "../../../../core/consents/consent.ts";
import type { AccessRules } from "../../../../core/protected-resources/asked-access.ts";
import { isApiScope } from "../../../../core/scopes/api-scopes.ts";
import { type CustomScope, fingerprintsOf } from "../../../../core/scopes/custom-scope.ts";
import {
  noRequestedClaims,
  type RequestedClaims,
  readableClaims,
} from "../../../../core/scopes/requested-claims.ts";
import { definitionsOf } from "../../../../core/scopes/scope-definitions.ts";
import type { ScopeText } from "../../../../html/components/scope-list.ts";
import type { AuthorizationRequest } from "../request/authorization-request.ts";

export interface RequestedAccess extends RequestedScopes {
  /** The supported part of the `claims` parameter. */
  readonly requestedClaims: RequestedClaims;
  readonly details: readonly DescribedDetail[];
}

/** An individually requested claim counts as its scope for consent (left open by OpenID Connect Core §5.5). */
export function requestedAccess(
  request: Pick<AuthorizationRequest, "application" | "scopes" | "requestedClaims" | "authorizationDetails">,
  { customScopes, detailTypes }: Pick<AccessRules, "customScopes" | "detailTypes">,
): RequestedAccess {
  const { allowedScopes } = request.application.settings;
  // Without `openid` there is neither an ID token nor userinfo.
  const isOpenId = request.scopes.includes("openid");
  const named = readableClaims(
    isOpenId ? request.requestedClaims : noRequestedClaims,
    allowedScopes,
    customScopes,
  );
  const scopes = [...new Set([...request.scopes, ...named.scopes])];
  return {
    scopes,
    fingerprints: fingerprintsOf(customScopes, scopes),
    definitions: definitionsOf(customScopes, scopes),
    requestedClaims: named.requested,
    details: request.authorizationDetails.flatMap((detail) => describedDetail(detail, detailTypes)),
  };
}

function describedDetail(
  detail: AuthorizationDetail,
  detailTypes: readonly DetailType[],
): readonly DescribedDetail[] {
  const type = detailTypes.find((one) => one.type === detail.type);
  if (!type) return [];
  return [{ detail, displayName: type.displayName, text: fillTemplate(type.template, detail) }];
}

/** A scope as pages describe it: custom scopes bring their own text. */
export function scopeText(name: string, customScopes: readonly CustomScope[]): ScopeText {
  const scope = customScopes.find((custom) => custom.name === name);
  // Who gives access to the API gives away what an administrator can do.
  if (!scope) return isApiScope(name) ? { name, sensitive: true } : { name };
  const { displayName, description, sensitive } = scope;
  return { name, displayName, description, sensitive };
}
