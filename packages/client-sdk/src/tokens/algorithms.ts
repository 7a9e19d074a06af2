/** The signature algorithms the SDK accepts, and the keys that fit them (RFC 7518 §3.1, RFC 8037, RFC 9864, RFC 9964). */
import { isMlDsaAlg } from "@signet/protocol/jose/ml-dsa";
import { importJWK, type JWK } from "jose";
import { SignetError } from "../errors.ts";

interface Algorithm {
  readonly kty: "AKP" | "EC" | "OKP" | "RSA";
  readonly crv?: string;
  /** The hash of `at_hash` (OpenID Connect Core §3.1.3.6). */
  readonly digest: "SHA-256" | "SHA-384" | "SHA-512" | "SHAKE256";
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
  ["ML-DSA-44", { kty: "AKP", digest: "SHAKE256" }],
  ["ML-DSA-65", { kty: "AKP", digest: "SHAKE256" }],
  ["ML-DSA-87", { kty: "AKP", digest: "SHAKE256" }],
]);

/** Of tokens. */
export const signingAlgorithms: readonly string[] = [...algorithms.keys()];

/** Of what clients sign: proofs, assertions, requests. ML-DSA is for tokens alone. */
export const clientAlgorithms: readonly string[] = signingAlgorithms.filter((alg) => !isMlDsaAlg(alg));

/** Public members of each key type (RFC 7518 §6, RFC 8037 §2, RFC 9964 §3); nothing else is ever imported. */
export const publicMembers = {
  AKP: ["kty", "alg", "pub"],
  EC: ["kty", "crv", "x", "y"],
  OKP: ["kty", "crv", "x"],
  RSA: ["kty", "n", "e"],
} as const;

const secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/** Whether a JWK contains a private or symmetric key. */
export const hasSecretMembers = (jwk: object): boolean => secretMembers.some((member) => member in jwk);

/** Key type, curve, and the JWK's own `alg` if it has one (RFC 7517 §4.4), as an AKP key must (RFC 9964 §3). */
export function fitsAlgorithm(jwk: JWK, alg: string): boolean {
  const algorithm = algorithms.get(alg);
  if (!algorithm || jwk.kty !== algorithm.kty) return false;
  if (algorithm.crv !== undefined && jwk.crv !== algorithm.crv) return false;
  return jwk.alg === undefined ? jwk.kty !== "AKP" : isSameAlgorithm(jwk.alg, alg);
}

/** `Ed25519` is the fully-specified name for `EdDSA` with such a key (RFC 9864 §2.2). */
export function isSameAlgorithm(one: string, other: string): boolean {
  const normalise = (name: string) => (name === "Ed25519" ? "EdDSA" : name);
  return normalise(one) === normalise(other);
}

/**
 * From the public members only, never from a certificate or URL in the JWK.
 * @throws SignetError `token_algorithm` if the key doesn't fit `alg`, `token_key_untrusted` if it is invalid or too short,
 * `token_algorithm_unsupported` if this runtime can't verify with it
 */
export async function importPublicKey(jwk: JWK, alg: string): Promise<CryptoKey> {
  const algorithm = algorithms.get(alg);
  if (!algorithm || !fitsAlgorithm(jwk, alg))
    throw new SignetError("token_algorithm", "The token's algorithm doesn't match its key.");
  const members = Object.fromEntries(publicMembers[algorithm.kty].map((name) => [name, jwk[name]]));
  const key = await importJWK(members as JWK, alg).catch((cause: unknown) => {
    if (isMlDsaAlg(alg) && isUnsupported(cause)) throw unsupportedAlgorithm(alg, cause);
    throw new SignetError("token_key_untrusted", "The token's key is invalid.", { cause });
  });
  if (key instanceof Uint8Array || key.type !== "public" || isShort(key))
    throw new SignetError("token_key_untrusted", "The token's key must not be used to verify tokens.");
  return key;
}

/** WebCrypto's answer to the name of an algorithm that it doesn't have. */
const isUnsupported = (error: unknown): boolean =>
  error instanceof Error && error.name === "NotSupportedError";

/** Every other accepted algorithm is in every supported runtime. */
export const unsupportedAlgorithm = (alg: string, cause: unknown): SignetError =>
  new SignetError(
    "token_algorithm_unsupported",
    `The token is signed with ${alg}, which this runtime can't verify: it needs ML-DSA in WebCrypto, as Node.js has it from 24.7 on.`,
    { cause, description: "The token's signature algorithm is not supported here." },
  );

/** RFC 7518 §3.3 and §3.5: RSA keys need at least 2048 bits. */
function isShort(key: CryptoKey): boolean {
  const { modulusLength } = key.algorithm as { modulusLength?: number };
  return modulusLength !== undefined && modulusLength < 2048;
}

/**
 * The claim `at_hash` (OpenID Connect Core §3.1.3.6): the left half of the digest inside the ID token's signature algorithm; of
 * ML-DSA 64 bytes of SHAKE256. Undefined for an algorithm that isn't accepted. @throws SignetError `token_algorithm_unsupported`
 */
export async function leftHalfHash(text: string, alg: string): Promise<Uint8Array | undefined> {
  const digest = algorithms.get(alg)?.digest;
  if (digest === undefined) return undefined;
  const hashed = crypto.subtle.digest(
    digest === "SHAKE256" ? shake256 : digest,
    new TextEncoder().encode(text),
  );
  const hash = new Uint8Array(
    await hashed.catch((cause: unknown) => {
      throw unsupportedAlgorithm(alg, cause);
    }),
  );
  return hash.subarray(0, hash.length / 2);
}

/** cSHAKE without customisation (NIST SP 800-185 §3.3). `length` is what Node.js 24 calls the bits, and drafts before it. */
const shake256 = { name: "cSHAKE256", outputLength: 512, length: 512 };

/** Algorithms of everything that is signed under a security profile (FAPI 2.0 SP §5.4.1). */
export const profileAlgorithms: readonly string[] = ["ES256", "PS256", "EdDSA", "Ed25519"];

/** Of a private JWK: its own `alg`, else the profile's for such a key. Undefined for other keys. */
export function algorithmOf({ alg, kty, crv }: JWK): string | undefined {
  if (alg !== undefined) return alg;
  if (kty === "EC" && crv === "P-256") return "ES256";
  if (kty === "OKP" && crv === "Ed25519") return "EdDSA";
  return kty === "RSA" ? "PS256" : undefined;
}
