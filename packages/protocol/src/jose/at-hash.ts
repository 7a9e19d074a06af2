import { hash } from "node:crypto";
import { jwsAlgorithms, type SigningAlg } from "./jws.ts";

/**
 * The `at_hash` claim (OpenID Connect Core §3.1.3.6): the left half of the access token's digest, by the hash of the
 * algorithm that signs the ID token, in base64url.
 */
export function atHash(accessToken: string, alg: SigningAlg): string {
  const digest = hash(jwsAlgorithms[alg].claimDigest, accessToken, "buffer");
  return digest.subarray(0, digest.length / 2).toString("base64url");
}
