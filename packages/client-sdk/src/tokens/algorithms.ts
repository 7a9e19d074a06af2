/** The signature algorithms the SDK accepts, and the keys that fit them (RFC 7518 §3.1, RFC 8037, RFC 9864). */
import { importJWK, type JWK } from "jose";
import { SignetError } from "../errors.ts";

interface Algorithm {
  readonly kty: "EC" | "OKP" | "RSA";
  readonly crv?: string;
  /** The hash of `at_hash` (OpenID Connect Core §3.1.3.6). */
  readonly digest: "SHA-256" | "SHA-384" | "SHA-512";
}

/** Asymmetric ones only: with `none` or a shared secret anybody who can verify could also sign (RFC 8725 §3.1). */
const algorithms: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  ["ES256", { kty: "EC", crv: "P-256", digest: "SHA-256" }],
  ["ES384", { kty: "EC", crv: "P-384", digest: "SHA-384" }],
  ["ES512", { kty: "EC", crv: "P-521", digest: "SHA-512" }],
  ["EdDSA", { kty: "OKP", crv: "Ed25519", digest: "SHA-512" }],
  ["Ed25519", { kty: "OKP", crv: "Ed25519", digest: "SHA-512" }],
  ["RS256", { kty: "RSA", digest: "SHA-256" }],
  ["RS384", { kty: "RSA", digest: "SHA-384" }],
  ["RS512", { kty: "RSA", digest: "SHA-512" }],
  ["PS256", { kty: "RSA", digest: "SHA-256" }],
  ["PS384", { kty: "RSA", digest: "SHA-384" }],
  ["PS512", { kty: "RSA", digest: "SHA-512" }],
]);

/** All that `verifyJwt` accepts, unless it is told fewer. */
export const signingAlgorithms: readonly string[] = [...algorithms.keys()];

/** Public members of each key type (RFC 7518 §6, RFC 8037 §2): the only ones that are ever imported. */
const publicMembers = {
  EC: ["kty", "crv", "x", "y"],
  OKP: ["kty", "crv", "x"],
  RSA: ["kty", "n", "e"],
} as const;

/** Whether a key can verify what `alg` signs: its type, its curve, and its own `alg` where it names one (RFC 7517 §4.4). */
export function fitsAlgorithm(jwk: JWK, alg: string): boolean {
  const algorithm = algorithms.get(alg);
  if (!algorithm || jwk.kty !== algorithm.kty) return false;
  if (algorithm.crv !== undefined && jwk.crv !== algorithm.crv) return false;
  return jwk.alg === undefined || sameAlgorithm(jwk.alg, alg);
}

/** `Ed25519` is the fully-specified name of what `EdDSA` means with such a key (RFC 9864 §2.2). */
function sameAlgorithm(one: string, other: string): boolean {
  const name = (alg: string) => (alg === "Ed25519" ? "EdDSA" : alg);
  return name(one) === name(other);
}

/**
 * The key of a JWK, for `alg`. Only its public members are read: never a certificate or an address in it.
 * Throws `SignetError`: `token_algorithm` when the key does not fit `alg`, `token_key_untrusted` when it is broken or short.
 */
export async function publicKeyOf(jwk: JWK, alg: string): Promise<CryptoKey> {
  const algorithm = algorithms.get(alg);
  if (!algorithm || !fitsAlgorithm(jwk, alg))
    throw new SignetError("token_algorithm", "The token's algorithm does not fit the key it names.");
  const members = Object.fromEntries(publicMembers[algorithm.kty].map((name) => [name, jwk[name]]));
  const key = await importJWK(members as JWK, alg).catch((cause: unknown) => {
    throw new SignetError("token_key_untrusted", "The key that the token names cannot be read.", { cause });
  });
  if (key instanceof Uint8Array || key.type !== "public" || isShort(key))
    throw new SignetError("token_key_untrusted", "The key that the token names may not verify tokens.");
  return key;
}

/** RFC 7518 §3.3 and §3.5: RSA keys of 2048 bits or more. */
function isShort(key: CryptoKey): boolean {
  const { modulusLength } = key.algorithm as { modulusLength?: number };
  return modulusLength !== undefined && modulusLength < 2048;
}

/** The hash that `at_hash` is made with. Undefined for an algorithm that is not accepted. */
export function claimDigestOf(alg: string): Algorithm["digest"] | undefined {
  return algorithms.get(alg)?.digest;
}
