/** By what tokens are known as the same: all that they say but when they were made and their `jti`. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { TokensToSign } from "./signer.ts";

/** The lifetime is part of it: a shorter one that was set meanwhile counts. */
export function claimsHash({ accessToken, idToken }: TokensToSign): string {
  return sha256Base64url(JSON.stringify([lasting(accessToken), idToken && lasting(idToken)]));
}

function lasting<Claims extends { iat: number; exp: number; jti?: unknown }>(claims: Claims): object {
  const { iat, exp, jti, ...rest } = claims;
  return { ...rest, lifetime: exp - iat };
}
