/**
 * The authorization code grant (RFC 6749 §4.1.3). A code is used once; a second use is refused and ends everything that
 * the first one began (RFC 6749 §4.1.2, RFC 9700 §4.2.4).
 */

import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { isCodeVerifier, verifyS256 } from "@signet/protocol/oauth/pkce";
import { newUuid } from "@signet/protocol/uuid";
import type { Application } from "../../../core/applications/application.ts";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { Clock } from "../../../core/clock.ts";
import type { AuthorizationCode } from "../../../core/codes/authorization-code.ts";
import { findCode, holdGrounds, useCode } from "../../../core/codes/codes.store.ts";
import { noteSessionUse } from "../../../core/sessions/sessions.store.ts";
import type { Release } from "../../../core/tokens/issue-tokens.ts";
import { firstRefreshToken, type RefreshTokenKeys } from "../../../core/tokens/refresh-token.ts";
import { insertTokenFamily, revokeTokenFamilies } from "../../../core/tokens/tokens.store.ts";
import { findUser } from "../../../core/users/users.store.ts";
import type { Database } from "../../../db/open.ts";
import type { Grant, GrantRequest, ReadGrant } from "./grant.ts";
import { newTokenFamily } from "./new-token-family.ts";
import { stillAllowedResources, stillAllowedScopes } from "./still-allowed.ts";

export interface AuthorizationCodeDeps extends RefreshTokenKeys {
  readonly database: Database;
  readonly clock: Clock;
}

export function authorizationCodeGrant(deps: AuthorizationCodeDeps): Grant {
  return { grantType: "authorization_code", read: (request) => readCode(deps, request) };
}

const refused = (cause: string) =>
  new OAuthError("invalid_grant", "the authorization code cannot be used", { cause });

async function readCode(deps: AuthorizationCodeDeps, request: GrantRequest): Promise<ReadGrant> {
  const { organisation, application, form, now } = request;
  const presented = form.values.get("code");
  if (presented === undefined) throw new OAuthError("invalid_request", "code is missing");
  const db = deps.database.query;
  const code = await findCode(db, organisation.id, sha256Base64url(presented));
  if (!code) throw refused("unknown");
  // Another client's code stays that client's: whoever intercepted it must not be able to burn it either.
  if (code.applicationId !== application.id) throw refused("issued to another client");
  requireSameRedirect(code, form.values.get("redirect_uri"));
  requireProof(code, form.values.get("code_verifier"));
  // After the proof: whoever merely saw a code, in a log or a history, must not be able to end what it began.
  if (code.usedAt !== null) throw await replayed(deps, request, code);
  if (code.expiresAt <= now) throw refused("expired");
  const resources = stillAllowedResources(form, code.resources, application);
  const user = await findUser(db, organisation.id, code.userId);
  if (!user || user.disabledAt !== null) throw refused("the user is gone or disabled");

  // Tokens that are signed already name the family that they will belong to.
  const familyId = code.signing?.familyId ?? newUuid();
  const { authentication, nonce, sessionId, consentId, requestedClaims } = code;
  return {
    subject: {
      issuer: request.issuer,
      application,
      scopes: stillAllowedScopes(code.scopes, application),
      resources,
      user: { user, authentication, nonce, sessionId, familyId, consentId, requestedClaims },
    },
    proofHash: code.codeHash,
    ...(code.signing ? { begun: code.signing } : {}),
    commit: (release) => redeem(deps, request, code, { familyId, release }),
  };
}

async function redeem(
  deps: AuthorizationCodeDeps,
  request: GrantRequest,
  code: AuthorizationCode,
  { familyId, release }: { readonly familyId: string; readonly release: Release | undefined },
) {
  const { organisation, application, deviceId } = request;
  const refreshToken = getsRefreshToken(application, code.scopes)
    ? firstRefreshToken(deps, organisation.id, familyId)
    : undefined;
  const now = deps.clock();
  const used = await deps.database.transaction(async (tx) => {
    const use = { orgId: organisation.id, codeHash: code.codeHash, familyId, now };
    if (!(await useCode(tx, use))) return false;
    if (!(await holdGrounds(tx, code))) throw refused("the session or the consent has ended");
    const { orgId, sessionId } = code;
    await noteSessionUse(tx, { orgId, sessionId, applicationId: application.id, now });
    await insertTokenFamily(
      tx,
      newTokenFamily(application, { ...code, deviceId }, { familyId, refreshToken, now }),
    );
    await release?.(tx);
    return true;
  });
  if (!used) throw await replayed(deps, request, code);
  return refreshToken === undefined ? {} : { refresh_token: refreshToken };
}

/** The first use began a family: it ends, with its access tokens. */
async function replayed(
  deps: AuthorizationCodeDeps,
  request: GrantRequest,
  code: AuthorizationCode,
): Promise<OAuthError> {
  const { organisation, application, address } = request;
  const now = deps.clock();
  await deps.database.transaction(async (tx) => {
    const first = await findCode(tx, organisation.id, code.codeHash);
    if (!first?.familyId) return;
    const id = first.familyId;
    const ended = await revokeTokenFamilies(tx, { orgId: organisation.id, id, now, reason: "code_replayed" });
    if (ended === 0) return;
    await recordAuditEvent(tx, {
      orgId: organisation.id,
      at: now,
      actor: `client:${application.id}`,
      action: "code.replayed",
      target: code.userId,
      address,
    });
  });
  return refused("used before");
}

/**
 * RFC 6749 §4.1.3. OAuth 2.1 no longer sends it, because PKCE binds the code better: only then may it be missing, and
 * a different one is refused all the same.
 */
function requireSameRedirect(code: AuthorizationCode, redirectUri: string | undefined): void {
  if (redirectUri === undefined && code.codeChallenge === null)
    throw new OAuthError("invalid_request", "redirect_uri is missing");
  if (redirectUri !== undefined && redirectUri !== code.redirectUri) throw refused("redirect_uri differs");
}

/** RFC 7636 §4.6; RFC 9700 §2.1.1: a verifier without a challenge is the mark of a downgrade. */
function requireProof(code: AuthorizationCode, verifier: string | undefined): void {
  if (code.codeChallenge === null) {
    if (verifier !== undefined) throw refused("a verifier, but no challenge was made");
    return;
  }
  if (verifier === undefined) throw new OAuthError("invalid_grant", "code_verifier is missing");
  if (!isCodeVerifier(verifier)) throw new OAuthError("invalid_request", "code_verifier is malformed");
  if (!verifyS256(verifier, code.codeChallenge)) throw refused("the verifier does not fit the challenge");
}

function getsRefreshToken({ settings }: Application, scopes: readonly string[]): boolean {
  if (!settings.grantTypes.includes("refresh_token")) return false;
  return scopes.includes("offline_access") || settings.issueRefreshTokenWithoutOfflineAccess;
}
