/** Signature algorithms and key types of certificates (RFC 5280 §4.1.1.2, §4.1.2.7). Platform-independent. */
import {
  areSameBytes,
  childrenOf,
  type DerElement,
  DerError,
  derTags,
  expectTag,
  oidOf,
  onlyChild,
  partsOf,
  readDer,
  smallInteger,
  wholeBytesOf,
} from "../der/der.ts";
import { base64urlOf } from "../der/pem.ts";
import type { PublicKeyMembers } from "../jose/jwk-members.ts";
import { type MlDsaAlg, mlDsaSizes } from "../jose/ml-dsa.ts";

type DigestName = "SHA-256" | "SHA-384" | "SHA-512";

export type SignatureMethod =
  | { readonly family: "ecdsa" | "rsa"; readonly hash: DigestName }
  | { readonly family: "rsa-pss"; readonly hash: DigestName; readonly saltLength: number }
  | { readonly family: "ed25519" };

/** RFC 5758 §3.2, RFC 4055 §5, RFC 8410 §3. Without SHA-1: a collision would forge a certificate. */
const signatureMethods: ReadonlyMap<string, SignatureMethod> = new Map<string, SignatureMethod>([
  ["2a8648ce3d040302", { family: "ecdsa", hash: "SHA-256" }],
  ["2a8648ce3d040303", { family: "ecdsa", hash: "SHA-384" }],
  ["2a8648ce3d040304", { family: "ecdsa", hash: "SHA-512" }],
  ["2a864886f70d01010b", { family: "rsa", hash: "SHA-256" }],
  ["2a864886f70d01010c", { family: "rsa", hash: "SHA-384" }],
  ["2a864886f70d01010d", { family: "rsa", hash: "SHA-512" }],
  ["2b6570", { family: "ed25519" }],
]);
const RSASSA_PSS = "2a864886f70d01010a";
const MGF1 = "2a864886f70d010108";
const digests: ReadonlyMap<string, DigestName> = new Map([
  ["608648016503040201", "SHA-256"],
  ["608648016503040202", "SHA-384"],
  ["608648016503040203", "SHA-512"],
]);
const MAX_SALT_BYTES = 64;

/** @param identifier AlgorithmIdentifier. @returns undefined for one that is not accepted */
export function signatureMethodOf(identifier: DerElement): SignatureMethod | undefined {
  try {
    const { oid, parameters } = algorithmOf(identifier);
    if (oid === RSASSA_PSS) return parameters && pssMethod(parameters);
    const method = signatureMethods.get(oid);
    // Ed25519 has none (RFC 8410 §3); of the others the forms with NULL and without it are both around (RFC 4055 §5).
    const isPlain = parameters === undefined || (method?.family !== "ed25519" && isNull(parameters));
    return isPlain ? method : undefined;
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** RFC 4055 §3.1. Omitted members mean SHA-1; only one digest for hash and mask is supported. */
function pssMethod(parameters: DerElement): SignatureMethod | undefined {
  const [hash, mask, salt, ...more] = childrenOf(expectTag(parameters, derTags.sequence));
  if (hash?.tag !== 0xa0 || mask?.tag !== 0xa1 || more.length > 0) return undefined;
  const digest = digestOf(onlyChild(hash));
  const mgf = algorithmOf(onlyChild(mask));
  if (mgf.oid !== MGF1 || !mgf.parameters || digestOf(mgf.parameters) !== digest || !digest) return undefined;
  const saltLength =
    salt === undefined ? 20 : smallInteger(expectTag(onlyChild(expectTag(salt, 0xa2)), derTags.integer));
  return saltLength <= MAX_SALT_BYTES ? { family: "rsa-pss", hash: digest, saltLength } : undefined;
}

function digestOf(identifier: DerElement): DigestName | undefined {
  const { oid, parameters } = algorithmOf(expectTag(identifier, derTags.sequence));
  return parameters === undefined || isNull(parameters) ? digests.get(oid) : undefined;
}

function algorithmOf(identifier: DerElement | undefined): {
  oid: string;
  parameters: DerElement | undefined;
} {
  const [oid, parameters] = partsOf(expectTag(identifier, derTags.sequence), 2, "an algorithm");
  return { oid: oidOf(expectTag(oid, derTags.oid)), parameters };
}

const isNull = ({ tag, content }: DerElement): boolean => tag === 0x05 && content.length === 0;

/** A key as canonical JWK members. */
export interface CertifiedKey {
  readonly jwk: PublicKeyMembers & { readonly kty: "AKP" | "EC" | "OKP" | "RSA" };
  /** Parameters of a key for RSASSA-PSS alone (RFC 4055 §1.2); `any` where it names none. Undefined for every other key. */
  readonly pssOnly?: Uint8Array | "any";
}

const EC_KEY = "2a8648ce3d0201";
const RSA_KEY = "2a864886f70d010101";
const ED25519_KEY = "2b6570";
/** RFC 9881 §4. Such a key signs tokens; as a certificate's issuer it is not accepted. */
const mlDsaKeys: ReadonlyMap<string, MlDsaAlg> = new Map([
  ["608648016503040311", "ML-DSA-44"],
  ["608648016503040312", "ML-DSA-65"],
  ["608648016503040313", "ML-DSA-87"],
]);
/** RFC 5480 §2.1.1.1. */
const curves: ReadonlyMap<string, string> = new Map([
  ["2a8648ce3d030107", "P-256"],
  ["2b81040022", "P-384"],
  ["2b81040023", "P-521"],
]);
export const coordinateBytes: Readonly<Record<string, number>> = { "P-256": 32, "P-384": 48, "P-521": 66 };
const UNCOMPRESSED = 0x04;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;
const MAX_EXPONENT_BYTES = 8;

/** @param keyInfo SubjectPublicKeyInfo. @returns undefined for a key that is not accepted. @throws DerError */
export function certifiedKeyOf(keyInfo: DerElement): CertifiedKey | undefined {
  const [identifier, bits] = partsOf(keyInfo, 2, "a key");
  const { oid, parameters } = algorithmOf(identifier);
  const key = wholeBytesOf(expectTag(bits, derTags.bitString));
  if (oid === EC_KEY) return parameters && ecKey(parameters, key);
  if (oid === ED25519_KEY)
    return parameters || key.length !== 32
      ? undefined
      : { jwk: { kty: "OKP", crv: "Ed25519", x: base64urlOf(key) } };
  const mlDsa = mlDsaKeys.get(oid);
  if (mlDsa)
    return parameters || key.length !== mlDsaSizes[mlDsa].publicKey
      ? undefined
      : { jwk: { kty: "AKP", alg: mlDsa, pub: base64urlOf(key) } };
  const jwk = oid === RSA_KEY || oid === RSASSA_PSS ? rsaKey(key) : undefined;
  if (!jwk) return undefined;
  if (oid === RSASSA_PSS) return { jwk, pssOnly: parameters?.raw ?? "any" };
  return parameters && isNull(parameters) ? { jwk } : undefined;
}

function ecKey(parameters: DerElement, point: Uint8Array): CertifiedKey | undefined {
  const crv = curves.get(oidOf(expectTag(parameters, derTags.oid))) ?? "";
  const size = coordinateBytes[crv];
  if (!size || point[0] !== UNCOMPRESSED || point.length !== 1 + 2 * size) return undefined;
  const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)].map(base64urlOf);
  return x !== undefined && y !== undefined ? { jwk: { kty: "EC", crv, x, y } } : undefined;
}

/** RFC 8017 §A.1.1. */
function rsaKey(key: Uint8Array): CertifiedKey["jwk"] | undefined {
  const [modulus, exponent] = partsOf(readDer(key, derTags.sequence), 2, "a key");
  const [n, e] = [positiveInteger(modulus), positiveInteger(exponent)];
  const bits = n.length * 8 - Math.clz32(n[0] ?? 0) + 24;
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS || e.length > MAX_EXPONENT_BYTES) return undefined;
  return { kty: "RSA", n: base64urlOf(n), e: base64urlOf(e) };
}

/** Its bytes without the zero that keeps it from being negative (X.690 §8.3.2). @throws DerError for zero and less */
export function positiveInteger(element: DerElement | undefined): Uint8Array {
  const { content } = expectTag(element, derTags.integer);
  const [first = 0x80, second = 0] = content;
  const hasZero = first === 0;
  if (first >= 0x80 || (hasZero && second < 0x80)) throw new DerError("not a positive number");
  return hasZero ? content.subarray(1) : content;
}

/** Whether a key may be used for a signature of this algorithm. @param identifier AlgorithmIdentifier of the signature */
export function fitsMethod(
  { jwk, pssOnly }: CertifiedKey,
  { family }: SignatureMethod,
  identifier: DerElement,
): boolean {
  if (family === "ecdsa") return jwk.kty === "EC";
  if (family === "ed25519") return jwk.kty === "OKP";
  if (jwk.kty !== "RSA") return false;
  if (pssOnly === undefined || pssOnly === "any") return pssOnly === undefined || family === "rsa-pss";
  // Digest and salt as the key names them (RFC 4055 §3.3); OpenSSL takes a longer salt as well.
  const { parameters } = algorithmOf(identifier);
  return family === "rsa-pss" && parameters !== undefined && areSameBytes(parameters.raw, pssOnly);
}
