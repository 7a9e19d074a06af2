/**
 * Authorization code grant (RFC 6749 §4.1.3). A code is redeemed once. A second use is refused and revokes what the first
 * one issued (RFC 6749 §4.1.2, RFC 9700 §4.2.4).
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { isCodeVerifier, verifyS256 } from "@signet/protocol/oauth/pkce";
import { isLoopbackUri } from "@signet/protocol/oauth/redirect-uri";
import { newUuid } from "@signet/protocol/uuid";
import type { Application } from "../../../core/applications/application.ts";
import type { AuthorizationCode } from "../../../core/codes/authorization-code.ts";
import { findCode, markCodeUsed } from "../../../core/codes/codes.store.ts";
import { lockActiveDevice } from "../../../core/devices/devices.store.ts";
import { invalidProof } from "../../../core/dpop/dpop-proof.ts";
import type { RefusalReason } from "../../../core/refused-requests/refused-request.ts";
import { linkSessionToDevice } from "../../../core/sessions/sessions.ts";
import { type HeldTokens, releaseTokens, type SignedTokens } from "../../../core/tokens/signer.ts";
import { newRefreshToken } from "../../../core/tokens/token-family.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { revokeReplayedFamily, startTokenFamily } from "./code-redemption.ts";
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

interface CodeBasis extends GrantBasis {
  readonly code: AuthorizationCode;
  /** What the family is granted. */
  readonly keptDetails: AuthorizationCode["authorizationDetails"];
  readonly familyId: string;
}

export function authorizationCodeGrant(deps: GrantDeps): Grant<CodeBasis> {
  return {
    grantType: "authorization_code",
    validate: (request) => validateCode(deps, request),
    consume: (request, basis, signed) => redeemCode(deps, request, basis, signed),
  };
}

const refused = (cause: string, reason: RefusalReason = "code-unusable") =>
  new OAuthError("invalid_grant", "the authorization code cannot be used", { cause, reason });

async function validateCode(deps: GrantDeps, request: GrantRequest): Promise<CodeBasis> {
  const { organisation, application, form, now } = request;
  const presented = form.values.get("code");
  if (presented === undefined) throw new OAuthError("invalid_request", "code is missing");
  const db = deps.database.query;
  const code = await findCode(db, organisation.id, sha256Base64url(presented));
  if (!code) throw refused("unknown");
  // A client that intercepts another client's code cannot invalidate it.
  if (code.applicationId !== application.id) throw refused("issued to another client");
  requireSameRedirectUri(code, form.values.get("redirect_uri"));
  requireCodeVerifier(code, form.values.get("code_verifier"));
  // RFC 9449 §10: only the key that the authorization request named redeems it.
  if (code.dpopJkt !== null && code.dpopJkt !== request.dpopJkt)
    throw invalidProof("the code is bound to another key");
  // After PKCE: a code seen in a log or a history is not enough to revoke what it issued.
  if (code.usedAt !== null) throw await replayed(deps, request, code);
  if (code.expiresAt <= now) throw refused("expired");
  const resources = await stillAllowedResources(deps, request, code.resources);
  const details = await grantedDetails(deps, request, code, resources);
  const user = await findUser(db, organisation.id, code.userId);
  if (!user || user.disabledAt !== null) throw refused("the user is deleted or disabled");

  // Tokens that an agent has signed already name their family.
  const familyId = code.signing?.familyId ?? newUuid();
  const { authentication, nonce, sessionId, consentId, requestedClaims } = code;
  const granted = { definitions: code.definitions, createdAt: code.createdAt };
  return {
    code,
    familyId,
    proofHash: code.codeHash,
    ...(code.signing ? { signingRequest: code.signing } : {}),
    scopes: await stillAllowedScopes(deps, code, application),
    resources,
    authorizationDetails: details.asked,
    keptDetails: details.kept,
    user: { user, authentication, nonce, sessionId, familyId, consentId, requestedClaims, granted },
  };
}

async function redeemCode(
  deps: GrantDeps,
  request: GrantRequest,
  { code, familyId, keptDetails }: CodeBasis,
  signed: SignedTokens | HeldTokens,
): Promise<ConsumedGrant> {
  const { application, deviceId, dpopJkt, certificateThumbprint } = request;
  const { orgId, codeHash } = code;
  const refreshToken = getsRefreshToken(application, code.scopes)
    ? newRefreshToken(deps, orgId, familyId)
    : undefined;
  const now = deps.clock();
  const tokens = await deps.database.transaction(async (tx) => {
    if (!(await markCodeUsed(tx, { orgId, codeHash, familyId, now }))) return undefined;
    const family = { id: familyId, refreshToken, now };
    const isHere = deviceId !== null && isLoopbackUri(code.redirectUri);
    // The device before the session, as its revocation locks them.
    if (isHere && !(await lockActiveDevice(tx, orgId, deviceId))) throw refused("the device was revoked");
    const binding = { deviceId, dpopJkt, certificateThumbprint };
    const requestSigned = code.signing?.requestSigned ?? null;
    const basis = { ...code, authorizationDetails: keptDetails, ...binding, requestSigned };
    if (!(await startTokenFamily(tx, application, basis, family)))
      throw refused("the session or the consent has ended");
    // RFC 8252 §7.3: such a redirect does not leave the machine, so the browser is on the device that vouches for the client.
    const act = { orgId, actor: `client:${application.id}`, address: request.address };
    if (isHere) await linkSessionToDevice(tx, { ...act, deviceId, sessionId: code.sessionId }, now);
    return releaseTokens(signed, tx);
  });
  if (!tokens) throw await replayed(deps, request, code);
  return { tokens, refreshToken };
}

/** @returns the error to throw, after the tokens of the first use are revoked */
async function replayed(
  deps: GrantDeps,
  request: GrantRequest,
  { orgId, codeHash, userId }: AuthorizationCode,
): Promise<OAuthError> {
  const redeemed = await findCode(deps.database.query, orgId, codeHash);
  const familyId = redeemed?.familyId;
  await revokeReplayedFamily(deps, request, { familyId, action: "code.replayed", userId });
  return refused("already redeemed");
}

/** RFC 6749 §4.1.3. OAuth 2.1 omits the parameter, because PKCE binds the code: only with PKCE may it be missing. */
function requireSameRedirectUri(code: AuthorizationCode, redirectUri: string | undefined): void {
  if (redirectUri === undefined && code.codeChallenge === null)
    throw new OAuthError("invalid_request", "redirect_uri is missing");
  if (redirectUri !== undefined && redirectUri !== code.redirectUri) throw refused("redirect_uri differs");
}

/** RFC 7636 §4.6; RFC 9700 §2.1.1: a verifier without a challenge is a sign of a downgrade attack. */
function requireCodeVerifier(code: AuthorizationCode, verifier: string | undefined): void {
  if (code.codeChallenge === null) {
    if (verifier !== undefined) throw refused("code_verifier without a code_challenge");
    return;
  }
  if (verifier === undefined)
    throw new OAuthError("invalid_grant", "code_verifier is missing", { reason: "code-verifier" });
  if (!isCodeVerifier(verifier))
    throw new OAuthError("invalid_request", "code_verifier is malformed", { reason: "code-verifier" });
  if (!verifyS256(verifier, code.codeChallenge))
    throw refused("code_verifier does not match the code_challenge", "code-verifier");
}

function getsRefreshToken({ settings }: Application, scopes: readonly string[]): boolean {
  if (!settings.grantTypes.includes("refresh_token")) return false;
  return scopes.includes("offline_access") || settings.issueRefreshTokenWithoutOfflineAccess;
}
