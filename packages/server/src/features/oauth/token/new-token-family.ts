/** What a code, of either kind, begins: a token family that rests on the sign-in and the consent behind it. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Application } from "../../../core/applications/application.ts";
import { refreshExpiry, type TokenFamily } from "../../../core/tokens/token-family.ts";

export type FamilyGround = Pick<
  TokenFamily,
  | "orgId"
  | "userId"
  | "sessionId"
  | "consentId"
  | "scopes"
  | "resources"
  | "nonce"
  | "authentication"
  | "requestedClaims"
  | "deviceId"
>;

export function newTokenFamily(
  application: Application,
  ground: FamilyGround,
  made: { familyId: string; refreshToken: string | undefined; now: number },
): TokenFamily {
  const { settings } = application;
  const { now, refreshToken } = made;
  const lifetime = Math.max(
    settings.refreshTokenLifetimeSeconds,
    settings.refreshTokenAbsoluteLifetimeSeconds,
  );
  const expiresAt = now + lifetime * 1000;
  return {
    orgId: ground.orgId,
    id: made.familyId,
    applicationId: application.id,
    userId: ground.userId,
    sessionId: ground.sessionId,
    consentId: ground.consentId,
    scopes: ground.scopes,
    resources: ground.resources,
    nonce: ground.nonce,
    authentication: ground.authentication,
    requestedClaims: ground.requestedClaims,
    refreshHash: refreshToken === undefined ? null : sha256Base64url(refreshToken),
    refreshExpiresAt:
      refreshToken === undefined
        ? null
        : refreshExpiry({ expiresAt }, settings.refreshTokenLifetimeSeconds, now),
    previousHash: null,
    rotatedAt: null,
    createdAt: now,
    expiresAt,
    revokedAt: null,
    deviceId: ground.deviceId,
  };
}
