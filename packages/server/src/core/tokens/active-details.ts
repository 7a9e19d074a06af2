/** The authorization details of a token as they are still granted (RFC 9396 §9.2). */

import type { Database } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import type { ApplicationDirectory } from "../applications/applications.ts";
import type { AuthorizationDetail } from "../authorization-details/detail-type.ts";
import type { DetailTypeDirectory } from "../authorization-details/detail-types.ts";
import { isPartOf, stillAllowedDetails, usableTypes } from "../authorization-details/details.ts";
import type { AccessTokenClaims } from "./claims.ts";
import { familyIdFromTokenId, type TokenFamily } from "./token-family.ts";
import { findTokenFamily } from "./tokens.store.ts";

export interface ActiveDetailsDeps {
  readonly database: Database;
  readonly applications: Pick<ApplicationDirectory, "find">;
  readonly detailTypes: Pick<DetailTypeDirectory, "list">;
}

/** What of a family's details new tokens would have. */
export async function detailsOfFamily(
  { detailTypes }: Pick<ActiveDetailsDeps, "detailTypes">,
  application: Application,
  family: Pick<TokenFamily, "authorizationDetails" | "createdAt">,
): Promise<AuthorizationDetail[]> {
  if (family.authorizationDetails.length === 0) return [];
  return stillAllowedDetails(family, usableTypes(application, await detailTypes.list(application.orgId)), []);
}

/** Those of the token's details that its family was granted, and still may have: an agent may sign more than that. */
export async function activeDetails(
  deps: ActiveDetailsDeps,
  orgId: string,
  { jti, client_id, authorization_details: told = [] }: AccessTokenClaims,
): Promise<readonly AuthorizationDetail[]> {
  const familyId = familyIdFromTokenId(jti);
  if (told.length === 0 || familyId === undefined) return [];
  const [application, family] = await Promise.all([
    deps.applications.find(orgId, client_id),
    findTokenFamily(deps.database.query, orgId, familyId),
  ]);
  if (!application || !family || family.applicationId !== application.id) return [];
  const granted = await detailsOfFamily(deps, application, family);
  return told.filter((one) => granted.some((whole) => isPartOf(one, whole)));
}
