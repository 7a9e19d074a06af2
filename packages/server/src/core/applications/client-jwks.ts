/** Public keys of clients, for signatures and for encryption (RFC 7517; minimum RSA key size: RFC 7518 §3.3). */
import { createPublicKey, type KeyObject, type webcrypto, X509Certificate } from "node:crypto";
import { isNestedWithin, MAX_JSON_DEPTH } from "@signet/protocol/json-depth";
import { isExactJson } from "@signet/protocol/json-exact";

export type ClientJwk = Readonly<Record<string, unknown>>;

const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/** Which keys a set may have, and what they may sign with: by `kty` and `crv`. */
export interface JwkRules {
  readonly algorithms: Readonly<Record<string, readonly string[]>>;
  readonly kinds: string;
  /** Beside `sig`. */
  readonly use?: string;
  /** Of keys with `use: enc`, where a set may have some; `algorithms` is what is encrypted with them. */
  readonly encryption?: Pick<JwkRules, "algorithms" | "kinds">;
}

/** How ID tokens are encrypted (modern-oauth.md §1). */
export const encryptionAlgs = ["RSA-OAEP-256", "ECDH-ES"] as const;
export type EncryptionAlg = (typeof encryptionAlgs)[number];

const clientKeyRules: JwkRules = {
  algorithms: { "EC P-256": ["ES256"], "OKP Ed25519": ["EdDSA"], RSA: ["RS256", "PS256"] },
  kinds: "RSA, P-256 or Ed25519",
  encryption: {
    algorithms: {
      RSA: ["RSA-OAEP-256"],
      ...{ "EC P-256": ["ECDH-ES"], "EC P-384": ["ECDH-ES"], "EC P-521": ["ECDH-ES"] },
      "OKP X25519": ["ECDH-ES"],
    },
    kinds: "RSA, P-256, P-384, P-521 or X25519",
  },
};
/** Of issuers that an organisation trusts (modern-oauth.md §5, "Trust"). */
export const trustKeyRules: JwkRules = {
  algorithms: { ...clientKeyRules.algorithms, "EC P-384": ["ES384"] },
  kinds: "RSA, P-256, P-384 or Ed25519",
  // SPIFFE Trust Domain and Bundle §4.2: beside the keys of certificates, which have another one.
  use: "jwt-svid",
};
const PUBLIC_MEMBERS = ["kty", "crv", "x", "y", "n", "e"];
const MIN_EXPONENT = 65_537n;
/** NIST SP 800-56B §6.2.1; with a longer one each check of a signature takes as long as signing. */
const MAX_EXPONENT = 2n ** 256n;
export const MAX_CLIENT_KEYS = 20;

/** Why a key is rejected, for the person who registers it; undefined when it is accepted. */
export function clientJwkFault(jwk: unknown, rules: JwkRules = clientKeyRules): string | undefined {
  if (!isObject(jwk)) return "must be an object";
  if (!isNestedWithin(jwk)) return `must not be nested more than ${MAX_JSON_DEPTH} deep`;
  if (!isExactJson(jwk)) return "must contain valid Unicode and numbers in range only";
  // A private key that was sent is compromised, and the sender must know.
  if (PRIVATE_MEMBERS.some((member) => member in jwk))
    return "must have public members only; the private key you sent is compromised, replace it";
  const { kty, crv, use, key_ops: operations, alg, kid, ext } = jwk;
  const kind = crv === undefined ? String(kty) : `${String(kty)} ${String(crv)}`;
  const isEncrypting = rules.encryption !== undefined && isEncryptionKey(jwk);
  const { algorithms: allowed, kinds } = (isEncrypting && rules.encryption) || rules;
  const algorithms = Object.hasOwn(allowed, kind) ? allowed[kind] : undefined;
  if (!algorithms || typeof kty !== "string")
    return `must be an ${kinds} public key (kty, and crv where it has one)`;
  if (use !== undefined && use !== "sig" && use !== rules.use && !isEncrypting)
    return rules.encryption ? 'use must be "sig", "enc" or absent' : 'use must be "sig" or absent';
  const operation = isEncrypting ? ENCRYPTION_OPERATIONS : ["verify"];
  if (
    operations !== undefined &&
    !(Array.isArray(operations) && operation.some((one) => operations.includes(one)))
  )
    return `key_ops must include ${operation.join(" or ")} or be absent`;
  if (alg !== undefined && !(typeof alg === "string" && algorithms.includes(alg)))
    return `alg must be ${algorithms.join(" or ")} or absent`;
  if (kid !== undefined && (typeof kid !== "string" || kid === "" || kid.length > 255))
    return "kid must be a text of 1 to 255 characters";
  if (ext !== undefined && typeof ext !== "boolean") return "ext must be a boolean or absent";
  return materialFault(jwk) ?? certificateFault(jwk);
}

/** RFC 7517 §4.3, of public keys. */
const ENCRYPTION_OPERATIONS = ["encrypt", "wrapKey", "deriveKey", "deriveBits"];

/** Its client decrypts with it, and signs nothing. */
export const isEncryptionKey = ({ use }: ClientJwk): boolean => use === "enc";

/** The key of the set that something for the client is encrypted with. */
export const findEncryptionKey = (keys: readonly ClientJwk[], alg: EncryptionAlg): ClientJwk | undefined =>
  keys.find(
    (jwk) =>
      isEncryptionKey(jwk) &&
      (jwk["alg"] === undefined || jwk["alg"] === alg) &&
      (jwk["kty"] === "RSA") === (alg === "RSA-OAEP-256"),
  );

/** RFC 7517 §4.7: the first certificate of `x5c` has the key; it is what self_signed_tls_client_auth compares. */
function certificateFault(jwk: ClientJwk): string | undefined {
  if (jwk["x5c"] === undefined) return undefined;
  const der = firstCertificate(jwk);
  const key = publicKeyOf(jwk);
  try {
    if (der && new X509Certificate(der).publicKey.equals(key)) return undefined;
  } catch {
    // Not a certificate.
  }
  return "x5c must begin with the certificate of this key, as base64 DER (RFC 7517 §4.7)";
}

/** @returns the DER of `x5c[0]` */
export function firstCertificate({ x5c }: ClientJwk): Buffer | undefined {
  const [first] = Array.isArray(x5c) ? (x5c as unknown[]) : [];
  return typeof first === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(first)
    ? Buffer.from(first, "base64")
    : undefined;
}

function publicKeyOf(jwk: ClientJwk): KeyObject {
  const members = Object.fromEntries(
    PUBLIC_MEMBERS.flatMap((name) => (name in jwk ? [[name, jwk[name]]] : [])),
  );
  return createPublicKey({ key: members as webcrypto.JsonWebKey, format: "jwk" });
}

/** Checks the key material: the point is on its curve, modulus and exponent are strong enough. */
function materialFault(jwk: ClientJwk): string | undefined {
  try {
    const key = publicKeyOf(jwk);
    if (key.asymmetricKeyType !== "rsa") return undefined;
    const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
    return modulusLength >= 2_048 &&
      modulusLength <= 8_192 &&
      publicExponent >= MIN_EXPONENT &&
      publicExponent < MAX_EXPONENT
      ? undefined
      : "an RSA key must have 2048 to 8192 bits and an exponent of 65537 to 2^256";
  } catch {
    return "is not a valid key";
  }
}

/** The faults of a key set, each with its path within the set. */
export function clientJwksFaults(
  jwks: unknown,
  rules: JwkRules = clientKeyRules,
): { path: string; message: string }[] {
  const keys = isObject(jwks) ? jwks["keys"] : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_CLIENT_KEYS)
    return [{ path: "keys", message: `must be 1 to ${MAX_CLIENT_KEYS} public keys (RFC 7517 §5)` }];
  const faults = keys.flatMap((jwk, index) => {
    const message = clientJwkFault(jwk, rules);
    return message === undefined ? [] : [{ path: `keys[${index}]`, message }];
  });
  // OpenID Connect Core §10.1: with several keys, a token names its key by kid.
  const kids = keys.map((jwk) => (isObject(jwk) ? jwk["kid"] : undefined));
  if (keys.length > 1 && (kids.includes(undefined) || new Set(kids).size < kids.length))
    faults.push({ path: "keys", message: "several keys need distinct kids" });
  return faults;
}

/**
 * The usable keys of a served set; others are ignored (RFC 7517 §5), so that a client may publish keys for other
 * purposes.
 * @returns undefined when the text is not a key set
 */
export function usableClientJwks(text: string, rules: JwkRules = clientKeyRules): ClientJwk[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const keys = isObject(value) ? value["keys"] : undefined;
  if (!Array.isArray(keys)) return undefined;
  return keys.slice(0, MAX_CLIENT_KEYS).filter((jwk) => clientJwkFault(jwk, rules) === undefined);
}

function isObject(value: unknown): value is ClientJwk {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
