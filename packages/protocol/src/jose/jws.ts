/** Signing algorithms, and compact JWS written with them (RFC 7515). */
import { isUtf8 } from "node:buffer";
import { constants, createHash, hash, type KeyObject, type SigningOptions, sign, verify } from "node:crypto";
import { isMlDsaAlg, type MlDsaAlg, mlDsaSizes } from "./ml-dsa.ts";

/** What clients sign with, and we as well. */
export type SigningAlg = "ES256" | "RS256" | "PS256" | "EdDSA";

/** What tokens are signed with. */
export type TokenAlg = SigningAlg | MlDsaAlg;

export interface SignatureAlgorithm {
  /** The digest that is signed; Ed25519 does its own. */
  readonly digest: "sha256" | "sha384" | null;
  readonly options: SigningOptions;
  readonly keyType: "ec" | "rsa" | "ed25519" | "ml-dsa-44" | "ml-dsa-65" | "ml-dsa-87";
  readonly namedCurve?: string;
}

interface JwsAlgorithm extends SignatureAlgorithm {
  /**
   * The digest behind `at_hash` (OpenID Connect Core §3.1.3.6): for Ed25519 the SHA-512 that is inside it, for ML-DSA the SHAKE256
   * that is inside it, 64 bytes of it.
   */
  readonly claimDigest: "sha256" | "sha512" | "shake256";
}

/** ECDSA as JWS has it: both numbers side by side (RFC 7518 §3.4). */
export const ecdsaOptions: SigningOptions = { dsaEncoding: "ieee-p1363" };
const pkcs1: SigningOptions = { padding: constants.RSA_PKCS1_PADDING };
const pss: SigningOptions = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
};
const ecP256 = { keyType: "ec", namedCurve: "prime256v1", options: ecdsaOptions } as const;

/** One row per algorithm that we sign with and accept (RFC 7518 §3.3 to §3.5, RFC 8037 §3.1). */
export const jwsAlgorithms: Readonly<Record<SigningAlg, JwsAlgorithm>> = {
  ES256: { digest: "sha256", ...ecP256, claimDigest: "sha256" },
  RS256: { digest: "sha256", options: pkcs1, keyType: "rsa", claimDigest: "sha256" },
  PS256: { digest: "sha256", options: pss, keyType: "rsa", claimDigest: "sha256" },
  EdDSA: { digest: null, options: {}, keyType: "ed25519", claimDigest: "sha512" },
};

/** FIPS 204 hashes the message itself; the context is empty (RFC 9964 §4). */
const mlDsa = (keyType: "ml-dsa-44" | "ml-dsa-65" | "ml-dsa-87") =>
  ({ digest: null, options: {}, keyType, claimDigest: "shake256" }) as const;

/** The algorithms of tokens: those above, and ML-DSA. */
export const tokenAlgorithms: Readonly<Record<TokenAlg, JwsAlgorithm>> = {
  ...jwsAlgorithms,
  "ML-DSA-44": mlDsa("ml-dsa-44"),
  "ML-DSA-65": mlDsa("ml-dsa-65"),
  "ML-DSA-87": mlDsa("ml-dsa-87"),
};

export interface JwsHeader extends Readonly<Record<string, unknown>> {
  readonly alg: TokenAlg;
  readonly kid?: string;
  readonly typ?: string;
}

export interface VerificationKey {
  readonly publicKey: KeyObject;
  readonly alg: TokenAlg;
}

const maxTokenLength = 16_384;
/** RFC 7518 §3.3. */
export const MIN_MODULUS_BITS = 2048;

/** Whether a value, of a header or of a client's registration, names one of our algorithms. */
export function isSigningAlg(alg: unknown): alg is SigningAlg {
  return typeof alg === "string" && Object.hasOwn(jwsAlgorithms, alg);
}

/** Whether a value names an algorithm of tokens. */
export function isTokenAlg(alg: unknown): alg is TokenAlg {
  return typeof alg === "string" && Object.hasOwn(tokenAlgorithms, alg);
}

/** The signed compact form of a payload (RFC 7515 §7.1). A payload that is a string is taken for finished JSON. */
export async function signJws(input: {
  alg: TokenAlg;
  kid: string;
  typ: string;
  privateKey: KeyObject;
  payload: object | string;
}): Promise<string> {
  const { alg, typ, kid, payload, privateKey } = input;
  const { digest, options } = tokenAlgorithms[alg];
  const body = typeof payload === "string" ? payload : JSON.stringify(payload);
  const signingInput = `${encodedHeader(privateKey, { alg, typ, kid })}.${encode(body)}`;
  // With a callback the signature is made on the thread pool, and the event loop goes on with other requests.
  const signature = await new Promise<Buffer>((resolve, reject) => {
    sign(digest, Buffer.from(signingInput), { key: privateKey, ...options }, (error, bytes) =>
      error ? reject(error) : resolve(bytes),
    );
  });
  return `${signingInput}.${signature.toString("base64url")}`;
}

const headers = new WeakMap<KeyObject, Map<string, string>>();

/** The encoded header, made once for a key: its name and the few types of its tokens hardly change. */
function encodedHeader(
  privateKey: KeyObject,
  { alg, typ, kid }: { alg: TokenAlg; typ: string; kid: string },
): string {
  const name = `${alg} ${typ} ${kid}`;
  const ofKey = headers.get(privateKey);
  const known = ofKey?.get(name);
  if (known !== undefined) return known;
  // Node would sign with whatever algorithm fits the key, and the header would not tell the truth.
  if (privateKey.asymmetricKeyType !== tokenAlgorithms[alg].keyType)
    throw new TypeError(`not a key for ${alg}`);
  const encoded = encode(JSON.stringify({ alg, typ, kid }));
  if (ofKey) ofKey.set(name, encoded);
  else headers.set(privateKey, new Map([[name, encoded]]));
  return encoded;
}

/**
 * The header and payload of a token with a valid signature; undefined for any other text, without a reason.
 *
 * The key decides the algorithm, never the token (RFC 8725 §3.1), and comes from `resolveKey` only: `jku`, `jwk`, `x5u` and
 * `x5c` are ignored, unless that takes the key from the header, as for a DPoP proof. `crit` is rejected, since no extension is supported (RFC 7515 §4.1.11). `expected.typ` lists the accepted
 * types, `undefined` among them if a token may have none (RFC 8725 §3.11).
 */
export function verifyJws(
  token: string,
  resolveKey: (kid: string | undefined, alg: TokenAlg, header: JwsHeader) => VerificationKey | undefined,
  expected: { typ: readonly (string | undefined)[] },
): { header: JwsHeader; payload: Record<string, unknown> } | undefined {
  const parts = split(token);
  const header = parts && decodeObject(parts.header);
  if (!parts || !isAcceptableHeader(header)) return undefined;
  if (!expected.typ.some((typ) => mediaType(typ) === mediaType(header.typ))) return undefined;
  const key = resolveKey(header.kid, header.alg, header);
  if (!key || key.alg !== header.alg) return undefined;
  const signature = decode(parts.signature);
  if (!signature || signature.length !== signatureLength(key)) return undefined;

  const { digest, options } = tokenAlgorithms[key.alg];
  const signingInput = Buffer.from(`${parts.header}.${parts.payload}`);
  if (!verify(digest, signingInput, { key: key.publicKey, ...options }, signature)) return undefined;
  const payload = decodeObject(parts.payload);
  return payload && { header, payload };
}

/** What a token says of itself, with nothing verified: for hints and for finding out whose token it claims to be. */
export function decodeJwsUnverified(
  token: string,
): { header: Record<string, unknown>; payload: Record<string, unknown> } | undefined {
  const parts = split(token);
  const header = parts && decodeObject(parts.header);
  const payload = parts && decodeObject(parts.payload);
  return header && payload && { header, payload };
}

function split(token: string) {
  if (token.length > maxTokenLength) return undefined;
  const [header, payload, signature, ...more] = token.split(".", 4);
  if (!header || !payload || !signature || more.length > 0) return undefined;
  return { header, payload, signature };
}

function isAcceptableHeader(header: Record<string, unknown> | undefined): header is JwsHeader {
  return (
    header !== undefined &&
    isTokenAlg(header.alg) &&
    ["string", "undefined"].includes(typeof header.kid) &&
    ["string", "undefined"].includes(typeof header.typ) &&
    !("crit" in header)
  );
}

/** Media types are compared without case, and may leave out `application/` (RFC 7515 §4.1.9). */
function mediaType(typ: string | undefined): string | undefined {
  return typ?.toLowerCase().replace(/^application\//, "");
}

const signatureLengths = new WeakMap<KeyObject, Map<TokenAlg, number | undefined>>();

/** Kept with the key: Node reads its details anew each time, which costs a fifth of a check of a signature. */
function signatureLength(key: VerificationKey): number | undefined {
  const ofKey = signatureLengths.get(key.publicKey) ?? new Map<TokenAlg, number | undefined>();
  if (ofKey.has(key.alg)) return ofKey.get(key.alg);
  const length = readSignatureLength(key);
  signatureLengths.set(key.publicKey, ofKey.set(key.alg, length));
  return length;
}

/** The only length in bytes that a signature of this key can have; undefined when the key does not fit its algorithm. */
function readSignatureLength({ publicKey, alg }: VerificationKey): number | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey;
  const { keyType, namedCurve } = tokenAlgorithms[alg];
  if (type !== keyType) return undefined;
  if (isMlDsaAlg(alg)) return mlDsaSizes[alg].signature;
  if (type === "ed25519") return 64;
  if (type === "ec") return details?.namedCurve === namedCurve ? 64 : undefined;
  const bits = details?.modulusLength ?? 0;
  return bits >= MIN_MODULUS_BITS ? Math.ceil(bits / 8) : undefined;
}

const encode = (text: string): string => Buffer.from(text).toString("base64url");

/** The bytes of canonical base64url: Node decodes many spellings, only the one that it would write itself is accepted. */
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}

function decodeObject(segment: string): Record<string, unknown> | undefined {
  const bytes = decode(segment);
  if (!bytes || !isUtf8(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The `at_hash` claim (OpenID Connect Core §3.1.3.6): the left half of the access token's digest, base64url. */
export function atHash(accessToken: string, alg: TokenAlg): string {
  const { claimDigest } = tokenAlgorithms[alg];
  const digest =
    claimDigest === "shake256"
      ? createHash(claimDigest, { outputLength: 64 }).update(accessToken).digest()
      : hash(claimDigest, accessToken, "buffer");
  return digest.subarray(0, digest.length / 2).toString("base64url");
}
