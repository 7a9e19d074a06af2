/**
 * What an organisation's custom scopes, and the claims that a client asks for one by one, add to a token answer and to
 * userinfo. Read when it is told, so that it is never older than the token.
 */
import type { Database } from "../../db/open.ts";
import { findConsentedFingerprints } from "../consents/consents.store.ts";
import { type Claims, customClaims } from "../scopes/custom-claims.ts";
import type { ScopeFingerprints } from "../scopes/custom-scope.ts";
import type { CustomScopeDirectory } from "../scopes/custom-scopes.ts";
import { requestedValues } from "../scopes/requested-claims.ts";
import { claimsOfScopes } from "../scopes/scopes.ts";
import type { User } from "../users/user.ts";
import type { AddedClaims, TokenSubject } from "./claims.ts";
import { findTokenFamily } from "./tokens.store.ts";

export interface AddedClaimsDeps {
  readonly database: Database;
  readonly customScopes: CustomScopeDirectory;
}

export async function addedClaims(deps: AddedClaimsDeps, subject: TokenSubject): Promise<AddedClaims> {
  const { application, scopes, user } = subject;
  const { orgId } = application;
  const customScopes = await deps.customScopes.list(orgId);
  const requests = user?.requestedClaims.idToken ?? {};
  const consented =
    customScopes.length === 0 ? undefined : await consentedBy(deps, orgId, user?.consentId ?? null);
  const about = { customScopes, consented };
  return {
    accessToken: customClaims({ ...about, scopes, user: user?.user }),
    idToken: user
      ? requestedValues(requests, { ...about, user: user.user, allowed: application.settings.allowedScopes })
      : {},
  };
}

export interface UserinfoSubject {
  readonly user: User;
  readonly scopes: readonly string[];
  /** What the application may ask for. */
  readonly allowed: readonly string[];
  /** Of the access token. */
  readonly familyId: string | undefined;
}

/** All that userinfo answers. */
export async function userinfoClaims(
  deps: AddedClaimsDeps,
  { user, scopes, allowed, familyId }: UserinfoSubject,
): Promise<Claims> {
  const [customScopes, family] = await Promise.all([
    deps.customScopes.list(user.orgId),
    familyId === undefined ? undefined : findTokenFamily(deps.database.query, user.orgId, familyId),
  ]);
  const consented =
    customScopes.length === 0 ? undefined : await consentedBy(deps, user.orgId, family?.consentId ?? null);
  const about = { customScopes, user, consented };
  return {
    ...customClaims({ ...about, scopes }),
    ...requestedValues(family?.requestedClaims.userinfo ?? {}, { ...about, allowed }),
    ...claimsOfScopes(user, scopes),
    sub: user.id,
  };
}

async function consentedBy(
  { database }: AddedClaimsDeps,
  orgId: string,
  consentId: string | null,
): Promise<ScopeFingerprints | undefined> {
  return consentId === null ? undefined : findConsentedFingerprints(database.query, { orgId, consentId });
}
