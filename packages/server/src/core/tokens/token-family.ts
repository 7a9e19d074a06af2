/**
 * A token family: everything that one authorization (one redeemed code) has led to. It holds the one living refresh
 * token and the one before it; revoking it ends them and every access token whose `jti` names it (RFC 9700 §4.14).
 */
import type { RequestedClaims } from "../scopes/requested-claims.ts";
import type { Authentication } from "./claims.ts";

export interface TokenFamily {
  readonly orgId: string;
  readonly id: string;
  readonly applicationId: string;
  readonly userId: string;
  readonly sessionId: string | null;
  readonly consentId: string | null;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly nonce: string | null;
  readonly authentication: Authentication;
  readonly requestedClaims: RequestedClaims;
  /** SHA-256 of the living refresh token; null when the grant came without one. */
  readonly refreshHash: string | null;
  readonly refreshExpiresAt: number | null;
  readonly previousHash: string | null;
  readonly rotatedAt: number | null;
  readonly createdAt: number;
  /** End of the absolute lifetime. */
  readonly expiresAt: number;
  readonly revokedAt: number | null;
  /** The device whose certificate it was begun with: nobody else's refreshes it (RFC 8705 §7.1). */
  readonly deviceId: string | null;
}

export type RefreshStanding =
  /** The living token: it is exchanged for its successor. */
  | "living"
  /** The token before it, within the grace window: the same successor again. */
  | "again"
  /** An older one: somebody has a copy. */
  | "replayed"
  | "expired"
  | "revoked";

/**
 * What a token of this family, known by its hash, may do.
 * @param graceMs 0 turns the window off
 */
export function refreshStanding(
  family: TokenFamily,
  hash: string,
  now: number,
  graceMs: number,
): RefreshStanding {
  if (family.revokedAt !== null) return "revoked";
  if (family.expiresAt <= now) return "expired";
  if (hash === family.refreshHash) return (family.refreshExpiresAt ?? 0) > now ? "living" : "expired";
  // The successor is still unused here: its use would have made it the previous one.
  const inGrace = family.rotatedAt !== null && now < family.rotatedAt + graceMs;
  return hash === family.previousHash && inGrace ? "again" : "replayed";
}

/** Each token's own lifetime, within the family's. */
export function refreshExpiry(
  family: Pick<TokenFamily, "expiresAt">,
  lifetimeSeconds: number,
  now: number,
): number {
  return Math.min(now + lifetimeSeconds * 1000, family.expiresAt);
}
