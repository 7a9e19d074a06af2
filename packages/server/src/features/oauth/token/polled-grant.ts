/**
 * A grant that the client polls for until the user has decided elsewhere: device codes (RFC 8628 §3.4) and CIBA requests (OpenID
 * Connect CIBA Core 1.0 §10.1, §11). What is polled for is redeemed once. A second use is refused and revokes what the first one
 * issued, as with authorization codes.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { newUuid } from "@signet/protocol/uuid";
import type { GrantType } from "../../../core/applications/application.ts";
import type { AuthorizationDetail } from "../../../core/authorization-details/detail-type.ts";
import type {
  DeviceApproval,
  DeviceAuthorization,
} from "../../../core/device-authorizations/device-authorization.ts";
import { noRequestedClaims } from "../../../core/scopes/requested-claims.ts";
import type { PoolSigning } from "../../../core/tokens/pool-signing.ts";
import { type HeldTokens, releaseTokens, type SignedTokens } from "../../../core/tokens/signer.ts";
import { newRefreshToken } from "../../../core/tokens/token-family.ts";
import { findUser } from "../../../core/users/users.store.ts";
import type { Db } from "../../../db/open.ts";
import { type ReplayAction, revokeReplayedFamily, startTokenFamily } from "./code-redemption.ts";
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

export interface PolledGrantDeps extends GrantDeps {
  readonly poolSigning: PoolSigning;
}

/** What the client polls for. */
export interface PolledAuthorization
  extends Pick<
    DeviceAuthorization,
    | ("orgId" | "applicationId" | "scopes" | "definitions" | "resources" | "status" | "approval")
    | ("createdAt" | "expiresAt" | "familyId" | "signing")
  > {
  /** SHA-256 of what the client presents. */
  readonly hash: string;
  readonly authorizationDetails: readonly AuthorizationDetail[];
}

type Key = Pick<PolledAuthorization, "orgId" | "hash"> & { readonly now: number };

export interface PolledKind {
  readonly grantType: GrantType;
  /** The parameter with what was issued. */
  readonly parameter: "device_code" | "auth_req_id";
  /** As descriptions of errors name it. */
  readonly noun: string;
  readonly replayAction: ReplayAction;
  /** Finds expired and used ones too. */
  find(db: Db, orgId: string, hash: string): Promise<PolledAuthorization | undefined>;
  /** @returns false when the poll was early */
  recordPoll(db: Db, key: Key): Promise<boolean>;
  /** The single use. @returns false when it was used or has expired */
  markUsed(db: Db, key: Key & { readonly familyId: string }): Promise<boolean>;
}

/** After this time without a signing request, an approval counts as one whose request could not be queued. */
const SIGNING_REQUEST_DEADLINE_MS = 10_000;

type Approved = PolledAuthorization & { readonly approval: DeviceApproval };

interface PolledBasis extends GrantBasis {
  readonly authorization: Approved;
  readonly familyId: string;
  /** What the family goes on with. */
  readonly keptDetails: readonly AuthorizationDetail[];
}

export function polledGrant(deps: PolledGrantDeps, kind: PolledKind): Grant<PolledBasis> {
  return {
    grantType: kind.grantType,
    validate: (request) => validate(deps, kind, request),
    consume: (request, basis, signed) => redeem(deps, kind, request, basis, signed),
  };
}

const refused = ({ noun }: PolledKind, cause: string) =>
  new OAuthError("invalid_grant", `the ${noun} cannot be used`, { cause });

async function validate(
  deps: PolledGrantDeps,
  kind: PolledKind,
  request: GrantRequest,
): Promise<PolledBasis> {
  const { organisation, application, form } = request;
  const presented = form.values.get(kind.parameter);
  if (presented === undefined) throw new OAuthError("invalid_request", `${kind.parameter} is missing`);
  const db = deps.database.query;
  const stored = await kind.find(db, organisation.id, sha256Base64url(presented));
  if (!stored) throw refused(kind, "unknown");
  if (stored.applicationId !== application.id) throw refused(kind, "issued to another client");
  const authorization = await requireApproved(deps, kind, request, stored);
  const { approval, signing } = authorization;
  const scopes = await stillAllowedScopes(deps, authorization, application);
  const resources = await stillAllowedResources(deps, request, authorization.resources);
  const details = await grantedDetails(deps, request, authorization, resources);
  const user = await findUser(db, organisation.id, approval.userId);
  if (!user || user.disabledAt !== null) throw refused(kind, "the user is deleted or disabled");

  const familyId = signing?.familyId ?? newUuid();
  const { authentication, sessionId, consentId } = approval;
  const requestedClaims = noRequestedClaims;
  const granted = { definitions: authorization.definitions, createdAt: authorization.createdAt };
  return {
    authorization,
    familyId,
    proofHash: authorization.hash,
    ...(signing?.begun ? { signingRequest: signing.begun } : {}),
    scopes,
    resources,
    authorizationDetails: details.asked,
    keptDetails: details.kept,
    user: { user, authentication, nonce: null, sessionId, familyId, consentId, requestedClaims, granted },
  };
}

/** @throws OAuthError the responses of RFC 8628 §3.5, which CIBA Core §11 has too */
async function requireApproved(
  deps: PolledGrantDeps,
  kind: PolledKind,
  request: GrantRequest,
  authorization: PolledAuthorization,
): Promise<Approved> {
  const { now } = request;
  const { orgId, hash, approval } = authorization;
  if (authorization.familyId !== null) throw await replayed(deps, kind, request, authorization);
  if (authorization.expiresAt <= now) throw new OAuthError("expired_token", `the ${kind.noun} has expired`);
  if (authorization.status === "denied") throw new OAuthError("access_denied", "the user denied the request");
  if (approval && !(await isBeingSigned(deps, authorization, now))) return { ...authorization, approval };
  if (await kind.recordPoll(deps.database.query, { orgId, hash, now }))
    throw new OAuthError("authorization_pending", "the user has not decided yet");
  throw new OAuthError("slow_down", "polling too fast: wait 5 seconds longer between polls");
}

/**
 * Whether an agent still has to sign for the approval. When no agent was available, the poll itself tries again.
 * @throws OAuthError when the agent, or the user there, refused
 */
async function isBeingSigned(
  { poolSigning }: PolledGrantDeps,
  { orgId, signing }: PolledAuthorization,
  now: number,
): Promise<boolean> {
  if (!signing) return false;
  if (!signing.begun) return now < signing.approvedAt + SIGNING_REQUEST_DEADLINE_MS;
  const outcome = await poolSigning.waitFor(orgId, signing.begun.requestId, 0);
  if (outcome instanceof OAuthError && outcome.code !== "temporarily_unavailable") throw outcome;
  return outcome === "waiting";
}

async function redeem(
  deps: PolledGrantDeps,
  kind: PolledKind,
  request: GrantRequest,
  { authorization, familyId, keptDetails }: PolledBasis,
  signed: SignedTokens | HeldTokens,
): Promise<ConsumedGrant> {
  const { application, deviceId, dpopJkt, certificateThumbprint } = request;
  const { orgId, hash, approval, scopes, definitions, resources } = authorization;
  const refreshToken = newRefreshToken(deps, orgId, familyId);
  const now = deps.clock();
  const tokens = await deps.database.transaction(async (tx) => {
    if (!(await kind.markUsed(tx, { orgId, hash, familyId, now }))) return undefined;
    // Neither kind of request has a nonce or a claims parameter.
    const requested = { nonce: null, requestedClaims: noRequestedClaims };
    const binding = { deviceId, dpopJkt, certificateThumbprint };
    const granted = { scopes, definitions, resources, authorizationDetails: keptDetails };
    const basis = { orgId, ...granted, ...approval, ...requested, ...binding };
    if (!(await startTokenFamily(tx, application, basis, { id: familyId, refreshToken, now })))
      throw refused(kind, "the session or the consent has ended");
    return releaseTokens(signed, tx);
  });
  if (!tokens) throw await replayed(deps, kind, request, authorization);
  return { tokens, refreshToken };
}

/** @returns the error to throw, after the tokens of the first use are revoked */
async function replayed(
  deps: PolledGrantDeps,
  kind: PolledKind,
  request: GrantRequest,
  { orgId, hash }: PolledAuthorization,
): Promise<OAuthError> {
  const redeemed = await kind.find(deps.database.query, orgId, hash);
  await revokeReplayedFamily(deps, request, {
    familyId: redeemed?.familyId,
    action: kind.replayAction,
    userId: redeemed?.approval?.userId,
  });
  return refused(kind, "already redeemed");
}
