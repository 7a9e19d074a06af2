/** The signature algorithms the SDK accepts, and the keys that fit them (RFC 7518 §3.1, RFC 8037, RFC 9864). */
import { importJWK, type JWK } from "jose";
import { SignetError } from "../errors.ts";

interface Algorithm {
  readonly kty: "EC" | "OKP" | "RSA";
  readonly crv?: string;
  /** The hash of `at_hash` (OpenID Connect Core §3.1.3.6). */
  readonly digest: "SHA-256" | "SHA-384" | "SHA-512";
}

/** Asymmetric only: with `none` or a shared secret, whoever can verify can also sign (RFC 8725 §3.1). */
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

export const signingAlgorithms: readonly string[] = [...algorithms.keys()];

/** Public members of each key type (RFC 7518 §6, RFC 8037 §2); nothing else is ever imported. */
export const publicMembers = {
  EC: ["kty", "crv", "x", "y"],
  OKP: ["kty", "crv", "x"],
  RSA: ["kty", "n", "e"],
} as const;

const secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** Whether a JWK contains a private or symmetric key. */
export const hasSecretMembers = (jwk: object): boolean => secretMembers.some((member) => member in jwk);

/** Key type, curve, and the JWK's own `alg` if it has one (RFC 7517 §4.4). */
export function fitsAlgorithm(jwk: JWK, alg: string): boolean {
  const algorithm = algorithms.get(alg);
  if (!algorithm || jwk.kty !== algorithm.kty) return false;
  if (algorithm.crv !== undefined && jwk.crv !== algorithm.crv) return false;
  return jwk.alg === undefined || isSameAlgorithm(jwk.alg, alg);
}

/** `Ed25519` is the fully-specified name for `EdDSA` with such a key (RFC 9864 §2.2). */
export function isSameAlgorithm(one: string, other: string): boolean {
  const normalise = (name: string) => (name === "Ed25519" ? "EdDSA" : name);
  return normalise(one) === normalise(other);
}

/**
 * From the public members only, never from a certificate or URL in the JWK.
 * @throws SignetError `token_algorithm` if the key doesn't fit `alg`, `token_key_untrusted` if it is invalid or too short
 */
export async function importPublicKey(jwk: JWK, alg: string): Promise<CryptoKey> {
  const algorithm = algorithms.get(alg);
  if (!algorithm || !fitsAlgorithm(jwk, alg))
    throw new SignetError("token_algorithm", "The token's algorithm doesn't match its key.");
  const members = Object.fromEntries(publicMembers[algorithm.kty].map((name) => [name, jwk[name]]));
  const key = await importJWK(members as JWK, alg).catch((cause: unknown) => {
    throw new SignetError("token_key_untrusted", "The token's key is invalid.", { cause });
  });
  if (key instanceof Uint8Array || key.type !== "public" || isShort(key))
    throw new SignetError("token_key_untrusted", "The token's key must not be used to verify tokens.");
  return key;
}

/** RFC 7518 §3.3 and §3.5: RSA keys need at least 2048 bits. */
function isShort(key: CryptoKey): boolean {
  const { modulusLength } = key.algorithm as { modulusLength?: number };
  return modulusLength !== undefined && modulusLength < 2048;
}

/** The hash algorithm of `at_hash`. Undefined for an algorithm that isn't accepted. */
export const hashAlgorithmFor = (alg: string): Algorithm["digest"] | undefined => algorithms.get(alg)?.digest;

/** Algorithms of everything that is signed under a security profile (FAPI 2.0 SP §5.4.1). */
export const profileAlgorithms: readonly string[] = ["ES256", "PS256", "EdDSA", "Ed25519"];

/** Of a private JWK: its own `alg`, else the profile's for such a key. Undefined for other keys. */
export function algorithmOf({ alg, kty, crv }: JWK): string | undefined {
  if (alg !== undefined) return alg;
  if (kty === "EC" && crv === "P-256") return "ES256";
  if (kty === "OKP" && crv === "Ed25519") return "EdDSA";
  return kty === "RSA" ? "PS256" : undefined;
}
