/** A signing key of an organisation, and the times that decide its state. */
import type { KeyObject } from "node:crypto";
import type { PublicJwk } from "@signet/protocol/jose/jwk";
import type { TokenAlg } from "@signet/protocol/jose/jws";
import type { RecordOf } from "../../db/records.ts";
import type { SigningKeyTable } from "../../db/tables/tokens.ts";

export interface SigningKey extends RecordOf<Omit<SigningKeyTable, "alg" | "public_jwk" | "private_key">> {
  readonly alg: TokenAlg;
  readonly publicJwk: PublicJwk;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** How long clients may cache the JWKS (Cache-Control max-age). */
export const JWKS_MAX_AGE_SECONDS = 300;
/** How long a successor is published before it signs: twice the cache lifetime, so that every client knows it. */
export const PUBLISH_AHEAD_MS = 2 * JWKS_MAX_AGE_SECONDS * 1000;
/** The tolerated difference between the clocks of two nodes, or of a node and a client. */
export const CLOCK_SKEW_MS = 300_000;
/** The maximum token lifetime (AccessTokenLifetimeSeconds, 86400) plus clock skew. */
export const MAX_TOKEN_LIFETIME_MS = 86_400_000 + CLOCK_SKEW_MS;

export type KeyState = "next" | "active" | "retiring" | "retired";

export type KeyTimes = Pick<SigningKey, "kid" | "alg" | "createdAt" | "activeFrom" | "retireAt">;

export function keyState(key: KeyTimes, keys: readonly KeyTimes[], now: number): KeyState {
  if (key.retireAt !== null && key.retireAt <= now) return "retired";
  if (key.activeFrom > now) return "next";
  return findActiveKey(keys, key.alg, now)?.kid === key.kid ? "active" : "retiring";
}

/**
 * The key that signs now: the algorithm's unretired key that became active last.
 * @param keys oldest first
 */
export function findActiveKey<Key extends KeyTimes>(
  keys: readonly Key[],
  alg: TokenAlg,
  now: number,
): Key | undefined {
  let signer: Key | undefined;
  for (const key of keys) {
    if (key.alg !== alg || key.activeFrom > now || (key.retireAt !== null && key.retireAt <= now)) continue;
    if (!signer || key.activeFrom >= signer.activeFrom) signer = key;
  }
  return signer;
}
