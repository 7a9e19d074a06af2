/**
 * Device code grant (RFC 8628 §3.4): the client polls until the user has decided. A device code is redeemed once. A second
 * use is refused and revokes what the first one issued, as with authorization codes.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { newUuid } from "@signet/protocol/uuid";
import { deviceCodeGrantType } from "../../../core/applications/application.ts";
import type {
  DeviceApproval,
  DeviceAuthorization,
} from "../../../core/device-authorizations/device-authorization.ts";
import {
  findByDeviceCode,
  markDeviceCodeUsed,
  recordPoll,
} from "../../../core/device-authorizations/device-authorizations.store.ts";
import { noRequestedClaims } from "../../../core/scopes/requested-claims.ts";
import type { PoolSigning } from "../../../core/tokens/pool-signing.ts";
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
  refuseDetails,
  stillAllowedResources,
  stillAllowedScopes,
} from "./grant.ts";

export interface DeviceCodeDeps extends GrantDeps {
  readonly poolSigning: PoolSigning;
}

/** After this time without a signing request, an approval counts as one whose request could not be queued. */
const SIGNING_REQUEST_DEADLINE_MS = 10_000;

type ApprovedAuthorization = DeviceAuthorization & { readonly approval: DeviceApproval };

interface DeviceCodeBasis extends GrantBasis {
  readonly authorization: ApprovedAuthorization;
  readonly familyId: string;
}

export function deviceCodeGrant(deps: DeviceCodeDeps): Grant<DeviceCodeBasis> {
  return {
    grantType: deviceCodeGrantType,
    validate: (request) => validateDeviceCode(deps, request),
    consume: (request, basis, signed) => redeemDeviceCode(deps, request, basis, signed),
  };
}

const refused = (cause: string) =>
  new OAuthError("invalid_grant", "the device code cannot be used", { cause });

async function validateDeviceCode(deps: DeviceCodeDeps, request: GrantRequest): Promise<DeviceCodeBasis> {
  const { organisation, application, form } = request;
  const presented = form.values.get("device_code");
  if (presented === undefined) throw new OAuthError("invalid_request", "device_code is missing");
  const db = deps.database.query;
  const stored = await findByDeviceCode(db, organisation.id, sha256Base64url(presented));
  if (!stored) throw refused("unknown");
  if (stored.applicationId !== application.id) throw refused("issued to another client");
  const authorization = await requireApproved(deps, request, stored);
  const { approval, signing } = authorization;
  const scopes = await stillAllowedScopes(deps, authorization, application);
  const resources = await stillAllowedResources(deps, request, authorization.resources);
  refuseDetails(request.form);
  const user = await findUser(db, organisation.id, approval.userId);
  if (!user || user.disabledAt !== null) throw refused("the user is deleted or disabled");

  const familyId = signing?.familyId ?? newUuid();
  const { authentication, sessionId, consentId } = approval;
  const requestedClaims = noRequestedClaims;
  const granted = { definitions: authorization.definitions, createdAt: authorization.createdAt };
  return {
    authorization,
    familyId,
    proofHash: authorization.deviceCodeHash,
    ...(signing?.begun ? { signingRequest: signing.begun } : {}),
    scopes,
    resources,
    user: { user, authentication, nonce: null, sessionId, familyId, consentId, requestedClaims, granted },
  };
}

/** @throws OAuthError the responses of RFC 8628 §3.5 */
async function requireApproved(
  deps: DeviceCodeDeps,
  request: GrantRequest,
  authorization: DeviceAuthorization,
): Promise<ApprovedAuthorization> {
  const { now } = request;
  const { orgId, deviceCodeHash, approval } = authorization;
  if (authorization.familyId !== null) throw await replayed(deps, request, authorization);
  if (authorization.expiresAt <= now) throw new OAuthError("expired_token", "the device code has expired");
  if (authorization.status === "denied") throw new OAuthError("access_denied", "the user denied the request");
  if (approval && !(await isBeingSigned(deps, authorization, now))) return { ...authorization, approval };
  if (await recordPoll(deps.database.query, { orgId, deviceCodeHash, now }))
    throw new OAuthError("authorization_pending", "the user has not decided yet");
  throw new OAuthError("slow_down", "polling too fast: wait 5 seconds longer between polls");
}

/**
 * Whether an agent still has to sign for the approval. When no agent was available, the poll itself tries again.
 * @throws OAuthError when the agent, or the user there, refused
 */
async function isBeingSigned(
  { poolSigning }: DeviceCodeDeps,
  { orgId, signing }: DeviceAuthorization,
  now: number,
): Promise<boolean> {
  if (!signing) return false;
  if (!signing.begun) return now < signing.approvedAt + SIGNING_REQUEST_DEADLINE_MS;
  const outcome = await poolSigning.waitFor(orgId, signing.begun.requestId, 0);
  if (outcome instanceof OAuthError && outcome.code !== "temporarily_unavailable") throw outcome;
  return outcome === "waiting";
}

async function redeemDeviceCode(
  deps: DeviceCodeDeps,
  request: GrantRequest,
  { authorization, familyId }: DeviceCodeBasis,
  signed: SignedTokens | HeldTokens,
): Promise<ConsumedGrant> {
  const { application, deviceId, dpopJkt, certificateThumbprint } = request;
  const { orgId, deviceCodeHash, approval, scopes, definitions, resources } = authorization;
  const refreshToken = newRefreshToken(deps, orgId, familyId);
  const now = deps.clock();
  const tokens = await deps.database.transaction(async (tx) => {
    if (!(await markDeviceCodeUsed(tx, { orgId, deviceCodeHash, familyId, now }))) return undefined;
    // RFC 8628 has neither nonce nor claims parameter.
    const requested = { nonce: null, requestedClaims: noRequestedClaims };
    const binding = { deviceId, dpopJkt, certificateThumbprint };
    const authorizationDetails: [] = [];
    const granted = { scopes, definitions, resources, authorizationDetails };
    const basis = { orgId, ...granted, ...approval, ...requested, ...binding };
    if (!(await startTokenFamily(tx, application, basis, { id: familyId, refreshToken, now })))
      throw refused("the session or the consent has ended");
    return releaseTokens(signed, tx);
  });
  if (!tokens) throw await replayed(deps, request, authorization);
  return { tokens, refreshToken };
}

/** @returns the error to throw, after the tokens of the first use are revoked */
async function replayed(
  deps: DeviceCodeDeps,
  request: GrantRequest,
  { orgId, deviceCodeHash }: DeviceAuthorization,
): Promise<OAuthError> {
  const redeemed = await findByDeviceCode(deps.database.query, orgId, deviceCodeHash);
  await revokeReplayedFamily(deps, request, {
    familyId: redeemed?.familyId,
    action: "device-code.replayed",
    userId: redeemed?.approval?.userId,
  });
  return refused("already redeemed");
}
