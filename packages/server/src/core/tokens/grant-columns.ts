/** The columns that authorization codes, device authorizations and token families have alike. */
import { formatScope } from "@signet/protocol/oauth/scope";
import type { AuthorizationDetail } from "../authorization-details/detail-type.ts";
import { readRequestedClaims, writeRequestedClaims } from "../scopes/requested-claims.ts";
import { readDefinitions, writeDefinitions } from "../scopes/scope-definitions.ts";
import type { Authentication, Grant } from "./token-family.ts";

type GrantColumns = ReturnType<typeof grantColumns>;

export const grantColumns = ({
  authentication,
  requestedClaims,
  authorizationDetails,
  ...requested
}: Grant) => ({
  ...requestColumns(requested),
  authorization_details: authorizationDetails.length > 0 ? JSON.stringify(authorizationDetails) : null,
  ...authenticationColumns(authentication),
  requested_claims: writeRequestedClaims(requestedClaims),
});

export const readGrant = ({ requested_claims, authorization_details, ...row }: GrantColumns): Grant => ({
  ...readRequest(row),
  authorizationDetails:
    authorization_details === null ? [] : (JSON.parse(authorization_details) as AuthorizationDetail[]),
  authentication: { authTime: row.auth_time, amr: JSON.parse(row.amr) as string[], acr: row.acr },
  requestedClaims: readRequestedClaims(requested_claims),
});

export const requestColumns = ({
  scopes,
  definitions,
  resources,
}: Pick<Grant, "scopes" | "definitions" | "resources">) => ({
  scope: formatScope(scopes),
  scope_definitions: writeDefinitions(definitions),
  resources: JSON.stringify(resources),
});

export const readRequest = ({ scope, scope_definitions, resources }: ReturnType<typeof requestColumns>) => ({
  scopes: scope.split(" "),
  definitions: readDefinitions(scope_definitions),
  resources: JSON.parse(resources) as string[],
});

export const authenticationColumns = ({ authTime, amr, acr }: Authentication) => ({
  auth_time: authTime,
  amr: JSON.stringify(amr),
  acr,
});
