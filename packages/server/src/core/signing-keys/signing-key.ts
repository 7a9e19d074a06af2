/** An organisation's signing key and the times that decide what it does. */
import type { KeyObject } from "node:crypto";
import type { PublicJwk } from "@signet/protocol/jose/jwk";
import type { SigningAlg } from "@signet/protocol/jose/jws";

export interface SigningKey {
  readonly orgId: string;
  readonly kid: string;
  readonly alg: SigningAlg;
  readonly publicJwk: PublicJwk;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly createdAt: number;
  readonly activeFrom: number;
  /** Null as long as no successor exists. */
  readonly retireAt: number | null;
}

/** How long a reader may keep the JWKS (its Cache-Control max-age). */
export const JWKS_MAX_AGE_SECONDS = 300;
/** A successor is published this long before it signs: twice what a cache keeps, so that every reader knows it by then. */
export const PUBLISH_AHEAD_MS = 2 * JWKS_MAX_AGE_SECONDS * 1000;
/** How far the clocks of two nodes, or of a node and a reader, may be apart. */
export const CLOCK_SKEW_MS = 300_000;
/** The longest life of a token (AccessTokenLifetimeSeconds, 86400) and some clock skew. */
export const LONGEST_TOKEN_MS = 86_400_000 + CLOCK_SKEW_MS;

export type KeyState = "next" | "active" | "retiring" | "retired";

/** What decides a key's state; the key itself is not needed for it. */
export type KeyTimes = Pick<SigningKey, "kid" | "alg" | "createdAt" | "activeFrom" | "retireAt">;

export function keyState(key: KeyTimes, keys: readonly KeyTimes[], now: number): KeyState {
  if (key.retireAt !== null && key.retireAt <= now) return "retired";
  if (key.activeFrom > now) return "next";
  return signerOf(keys, key.alg, now)?.kid === key.kid ? "active" : "retiring";
}

/**
 * The key that signs now: of the algorithm's keys whose time has begun, the one whose time began last.
 * @param keys oldest first
 */
export function signerOf<Key extends KeyTimes>(
  keys: readonly Key[],
  alg: SigningAlg,
  now: number,
): Key | undefined {
  let signer: Key | undefined;
  for (const key of keys) {
    if (key.alg !== alg || key.activeFrom > now || (key.retireAt !== null && key.retireAt <= now)) continue;
    if (!signer || key.activeFrom >= signer.activeFrom) signer = key;
  }
  return signer;
}
