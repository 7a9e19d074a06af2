/** The columns that authorization codes, device authorizations and token families have alike. */
import { formatScope } from "@signet/protocol/oauth/scope";
import {
  type RequestedClaims,
  readRequestedClaims,
  writeRequestedClaims,
} from "../scopes/requested-claims.ts";
import type { Authentication } from "./token-family.ts";

interface Grant {
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly authentication: Authentication;
  readonly requestedClaims: RequestedClaims;
}

type GrantColumns = ReturnType<typeof grantColumns>;

export const grantColumns = ({ authentication, requestedClaims, ...requested }: Grant) => ({
  ...requestColumns(requested),
  ...authenticationColumns(authentication),
  requested_claims: writeRequestedClaims(requestedClaims),
});

export const readGrant = ({ requested_claims, ...row }: GrantColumns): Grant => ({
  ...readRequest(row),
  authentication: { authTime: row.auth_time, amr: JSON.parse(row.amr) as string[], acr: row.acr },
  requestedClaims: readRequestedClaims(requested_claims),
});

export const requestColumns = ({ scopes, resources }: Pick<Grant, "scopes" | "resources">) => ({
  scope: formatScope(scopes),
  resources: JSON.stringify(resources),
});

export const readRequest = ({ scope, resources }: { scope: string; resources: string }) => ({
  scopes: scope.split(" "),
  resources: JSON.parse(resources) as string[],
});

export const authenticationColumns = ({ authTime, amr, acr }: Authentication) => ({
  auth_time: authTime,
  amr: JSON.stringify(amr),
  acr,
});
