/** A CIBA request that the signed-in user is asked. */
import { type Application, cibaGrantType } from "../../../core/applications/application.ts";
import type { CibaRequest } from "../../../core/ciba-requests/ciba-request.ts";
import { findOwnRequest } from "../../../core/ciba-requests/ciba-requests.store.ts";
import { readAccessRules } from "../../../core/protected-resources/asked-access.ts";
import { grantableByUser } from "../../../core/scopes/api-scopes.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { noRequestedClaims } from "../../../core/scopes/requested-claims.ts";
import { stillDefined } from "../../../core/scopes/scope-definitions.ts";
import type { User } from "../../../core/users/user.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";
import { type RequestedAccess, requestedAccess } from "../authorize/consent/requested-access.ts";

export interface OwnRequest {
  readonly request: CibaRequest;
  readonly application: Application;
  /** Read once: the decision is about what the page showed, even if it changes meanwhile. */
  readonly access: RequestedAccess;
  readonly customScopes: readonly CustomScope[];
}

/** @returns undefined for one that is unknown, expired or another user's, or whose application has lost the grant */
export async function findRequestOfUser(
  deps: BrowserDeps,
  { organisation, request: { params } }: Visit,
  user: User,
): Promise<OwnRequest | undefined> {
  const { database, clock, applications } = deps;
  const orgId = organisation.id;
  const { id = "" } = params as { id?: string };
  const key = { orgId, userId: user.id, id: id.toLowerCase(), now: clock() };
  const found = await findOwnRequest(database.query, key);
  const application = found && (await applications.find(orgId, found.applicationId));
  if (!found || !application?.settings.grantTypes.includes(cibaGrantType)) return undefined;
  const rules = await readAccessRules(deps, orgId);
  const { customScopes } = rules;
  // Without scopes that were deleted or made anew since the client asked: the tokens would not have them.
  const defined = stillDefined(found.scopes, found, customScopes);
  const request = { ...found, scopes: grantableByUser(defined, user, application.settings) };
  const access = requestedAccess({ application, requestedClaims: noRequestedClaims, ...request }, rules);
  return { request, application, access, customScopes };
}
