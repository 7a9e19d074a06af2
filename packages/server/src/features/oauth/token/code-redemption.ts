/** Redeeming a code of either kind starts a token family: the record of the authorization behind the code. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Application } from "../../../core/applications/application.ts";
import { lockSessionAndConsent } from "../../../core/codes/codes.store.ts";
import { recordSessionUse } from "../../../core/sessions/sessions.store.ts";
import { revokeFamily } from "../../../core/tokens/revoke-family.ts";
import { refreshExpiry, type TokenFamily } from "../../../core/tokens/token-family.ts";
import { insertTokenFamily } from "../../../core/tokens/tokens.store.ts";
import type { Db } from "../../../db/open.ts";
import type { GrantDeps, GrantRequest } from "./grant.ts";

/** The authorization behind a code. */
export interface FamilyBasis
  extends Pick<
    TokenFamily,
    | "orgId"
    | "userId"
    | "consentId"
    | "scopes"
    | "definitions"
    | "resources"
    | "authorizationDetails"
    | "nonce"
    | "authentication"
    | "requestedClaims"
    | "deviceId"
    | "dpopJkt"
    | "certificateThumbprint"
  > {
  readonly sessionId: string;
  /** Whether the client signed the authorization request: agents are told at each refresh. */
  readonly requestSigned?: boolean | null;
}

/**
 * Starts a token family in the transaction that redeems the code.
 * @returns false when the session or the consent behind the code has ended
 */
export async function startTokenFamily(
  tx: Db,
  application: Application,
  basis: FamilyBasis,
  family: { readonly id: string; readonly refreshToken: string | undefined; readonly now: number },
): Promise<boolean> {
  const { orgId, sessionId } = basis;
  const { id, refreshToken, now } = family;
  if (!(await lockSessionAndConsent(tx, basis))) return false;
  await recordSessionUse(tx, { orgId, sessionId, applicationId: application.id, now });
  const { refreshTokenLifetimeSeconds, refreshTokenAbsoluteLifetimeSeconds } = application.settings;
  const expiresAt = now + Math.max(refreshTokenLifetimeSeconds, refreshTokenAbsoluteLifetimeSeconds) * 1000;
  const hasToken = refreshToken !== undefined;
  await insertTokenFamily(tx, {
    ...basis,
    id,
    applicationId: application.id,
    refreshHash: hasToken ? sha256Base64url(refreshToken) : null,
    refreshExpiresAt: hasToken ? refreshExpiry({ expiresAt }, refreshTokenLifetimeSeconds, now) : null,
    previousHash: null,
    rotatedAt: null,
    createdAt: now,
    expiresAt,
    revokedAt: null,
  });
  return true;
}

export type ReplayAction = "code.replayed" | "device-code.replayed" | "ciba-request.replayed";

/** Revokes the family that the first redemption of a code started (RFC 6749 §4.1.2). */
export async function revokeReplayedFamily(
  deps: GrantDeps,
  { organisation, application, address }: GrantRequest,
  replay: {
    readonly familyId: string | null | undefined;
    readonly action: ReplayAction;
    readonly userId: string | undefined;
  },
): Promise<void> {
  const { familyId, action, userId } = replay;
  if (!familyId) return;
  const client = { orgId: organisation.id, clientId: application.id, address };
  await revokeFamily(deps, { ...client, familyId, reason: "code_replayed", action, userId });
}
