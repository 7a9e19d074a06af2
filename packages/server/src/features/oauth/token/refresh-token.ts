/**
 * Refresh token grant: rotation, reuse detection, grace (RFC 6749 §6, RFC 9700 §4.14.2). One compare-and-swap decides
 * which request rotates. Reuse of an older token revokes the family. Until its successor is used, the previous token gets
 * the same one again, so that a lost response, a stall of the database or two racing tabs sign nobody out.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { isSubset, parseScope } from "@signet/protocol/oauth/scope";
import { isFapi } from "../../../core/applications/security-profile.ts";
import { recordOnce } from "../../../core/audit/unauthenticated-events.ts";
import { revokeFamily } from "../../../core/tokens/revoke-family.ts";
import { type HeldTokens, releaseTokens, type SignedTokens } from "../../../core/tokens/signer.ts";
import {
  deriveSuccessors,
  familyIdFromRefreshToken,
  refreshExpiry,
  refreshTokenStatus,
  type TokenFamily,
} from "../../../core/tokens/token-family.ts";
import { findTokenFamily, rotateRefreshToken } from "../../../core/tokens/tokens.store.ts";
import { findUser } from "../../../core/users/users.store.ts";
import {
  type ConsumedGrant,
  type Grant,
  type GrantBasis,
  type GrantDeps,
  type GrantRequest,
  grantedDetails,
  stillAllowedResources,
  stillAllowedScopes,
} from "./grant.ts";

interface RefreshBasis extends GrantBasis {
  readonly family: TokenFamily;
  readonly token: string;
  /** SHA-256 of the token. */
  readonly proofHash: string;
}

export function refreshTokenGrant(deps: GrantDeps): Grant<RefreshBasis> {
  return {
    grantType: "refresh_token",
    validate: (request) => validateRefreshToken(deps, request),
    consume: (request, basis, signed) => rotate(deps, request, basis, signed),
  };
}

const refused = (cause: string) =>
  new OAuthError("invalid_grant", "the refresh token cannot be used", {
    cause,
    reason: "refresh-token-unusable",
  });

async function validateRefreshToken(deps: GrantDeps, request: GrantRequest): Promise<RefreshBasis> {
  const { organisation, application, form, now } = request;
  const token = form.values.get("refresh_token");
  if (token === undefined) throw new OAuthError("invalid_request", "refresh_token is missing");
  const familyId = familyIdFromRefreshToken(deps, organisation.id, token);
  const family = familyId && (await findTokenFamily(deps.database.query, organisation.id, familyId));
  if (!familyId || !family) throw refused("unknown");
  // RFC 6749 §10.4: bound to the client. Another client learns nothing and revokes nothing.
  if (family.applicationId !== application.id) throw refused("issued to another client");
  // RFC 8705 §7.1: bound to the device, not to one certificate, so that a renewed certificate works. Checked before
  // reuse detection: another device revokes nothing either.
  // Where only a resource asks for a certificate, it is looked at once the resource is known (`holder`).
  const { tlsClientCertificateBoundAccessTokens: isAlwaysBound } = application.settings;
  if (family.deviceId !== request.deviceId && (isAlwaysBound || request.deviceId !== null))
    throw refused("issued to another device, or to none");
  // RFC 9449 §5: a public client's refresh token is bound to the key. Before reuse detection too, and in the grace window.
  const isBound = application.settings.tokenEndpointAuthMethod === "none" && family.dpopJkt !== null;
  if (isBound && family.dpopJkt !== request.dpopJkt) throw refused("bound to another key");
  // FAPI 2.0: what was issued before the application had the profile ends.
  if (isFapi(application.settings) && family.dpopJkt === null && family.certificateThumbprint === null)
    throw refused("bound to nothing");
  const proofHash = sha256Base64url(token);
  await requireUsable(deps, request, family, proofHash, now);
  const user = await findUser(deps.database.query, organisation.id, family.userId);
  if (!user || user.disabledAt !== null) throw refused("the user is deleted or disabled");

  const { authentication, nonce, sessionId, consentId, requestedClaims } = family;
  const resources = await stillAllowedResources(deps, request, family.resources);
  const details = await grantedDetails(deps, request, family, resources);
  const granted = { definitions: family.definitions, createdAt: family.createdAt };
  return {
    family,
    token,
    proofHash,
    holder: { deviceId: family.deviceId, dpopJkt: family.dpopJkt },
    requestSigned: family.requestSigned,
    scopes: await narrowedScopes(deps, request, family),
    resources,
    authorizationDetails: details.asked,
    user: { user, authentication, nonce, sessionId, familyId, consentId, requestedClaims, granted },
  };
}

async function rotate(
  deps: GrantDeps,
  request: GrantRequest,
  { family, token, proofHash }: RefreshBasis,
  signed: SignedTokens | HeldTokens,
): Promise<ConsumedGrant> {
  const { orgId, id } = family;
  const { query } = deps.database;
  // FAPI 2.0 SP §5.3.2.1: a bound token is not rotated; the same one goes on.
  const derived = deriveSuccessors(deps, orgId, id, token);
  const successors = isFapi(request.application.settings) ? ([token, ...derived] as const) : derived;
  const [refreshToken] = successors;
  const now = deps.clock();
  const rotation = {
    orgId,
    id,
    presentedHash: proofHash,
    successorHash: sha256Base64url(refreshToken),
    now,
    expiresAt: refreshExpiry(family, request.application.settings.refreshTokenLifetimeSeconds, now),
  };
  // Held tokens are released in the transaction of the rotation: a failed release burns no refresh token.
  let tokens: SignedTokens | undefined;
  if ("release" in signed)
    tokens = await deps.database.transaction(async (tx) =>
      (await rotateRefreshToken(tx, rotation)) ? signed.release(tx) : undefined,
    );
  else if (await rotateRefreshToken(query, rotation)) tokens = signed;
  if (tokens) return { tokens, refreshToken };
  // Another request rotated the token first, or this one repeats it: the current state of the family decides.
  const current = await findTokenFamily(query, orgId, id);
  if (!current) throw refused("unknown");
  await requireUsable(deps, request, current, proofHash, now);
  await recordLateRepeat(deps, request, current, now);
  const isWritten = (one: string) => sha256Base64url(one) === current.refreshHash;
  const written = successors.find(isWritten);
  // Derived under a master key that this node doesn't know yet: the token stays good for another try.
  if (written === undefined)
    throw new OAuthError("temporarily_unavailable", "the refresh token can be used again in a moment", {
      cause: "its successor was derived under a master key that this server does not know",
    });
  return { tokens: await releaseTokens(signed), refreshToken: written };
}

/**
 * A lost response is repeated within seconds. Later it may be a copy of the token, and an administrator should see it: once
 * per token and hour, since whoever holds it can repeat it in any number.
 */
async function recordLateRepeat(
  deps: GrantDeps,
  { application, address }: GrantRequest,
  { orgId, id, userId, rotatedAt }: TokenFamily,
  now: number,
): Promise<void> {
  if (now < (rotatedAt ?? now) + application.settings.refreshTokenGraceSeconds * 1000) return;
  const subject = `refresh-token.repeated|${id}|${rotatedAt}`;
  await recordOnce(deps, { orgId, subject, everyMs: 3_600_000 }, () => ({
    ...{ actor: `client:${application.id}`, action: "refresh-token.repeated" as const, address },
    ...(userId === undefined ? {} : { target: userId }),
  }));
}

/** @throws OAuthError invalid_grant; a reused token revokes its family first */
async function requireUsable(
  deps: GrantDeps,
  { application, address }: GrantRequest,
  family: TokenFamily,
  hash: string,
  now: number,
): Promise<void> {
  const acceptsPrevious = application.settings.refreshTokenGraceSeconds > 0;
  const status = refreshTokenStatus(family, hash, now, acceptsPrevious);
  if (status === "current" || status === "grace") return;
  if (status === "replayed")
    await revokeFamily(deps, {
      orgId: family.orgId,
      familyId: family.id,
      reason: "refresh_token_replayed",
      action: "refresh-token.replayed",
      clientId: application.id,
      address,
      userId: family.userId,
    });
  throw refused(status);
}

/** RFC 6749 §6: the granted scopes or fewer; the family keeps what it was granted. */
function narrowedScopes(
  deps: GrantDeps,
  { form, application }: GrantRequest,
  family: TokenFamily,
): Promise<readonly string[]> {
  const text = form.values.get("scope");
  const scopes = text === undefined ? family.scopes : parseScope(text);
  if (!scopes || !isSubset(scopes, family.scopes))
    throw new OAuthError("invalid_scope", "the scope exceeds what the refresh token was granted");
  return stillAllowedScopes(deps, family, application, scopes);
}
