/** The public keys that a client may prove itself with (RFC 7517; RFC 7518 §3.3 for the least size of an RSA key). */
import { createPublicKey, type webcrypto } from "node:crypto";
import { isSigningAlg, type SigningAlg } from "@signet/protocol/jose/jws";
import { isNestedWithin, MOST_JSON_DEPTH } from "@signet/protocol/json-depth";

export type ClientJwk = Readonly<Record<string, unknown>>;

const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
const ALGORITHMS: Readonly<Record<string, readonly SigningAlg[]>> = {
  EC: ["ES256"],
  OKP: ["EdDSA"],
  RSA: ["RS256", "PS256"],
};
const CURVES: Readonly<Record<string, string>> = { EC: "P-256", OKP: "Ed25519" };
const PUBLIC_MEMBERS = ["kty", "crv", "x", "y", "n", "e"];
const LEAST_EXPONENT = 65_537n;
export const MOST_CLIENT_KEYS = 20;

/** Why a key is not accepted, in words for whoever registers it; undefined when it is. */
export function clientJwkFault(jwk: unknown): string | undefined {
  if (!isObject(jwk)) return "must be an object";
  if (!isNestedWithin(jwk)) return `must not be nested more than ${MOST_JSON_DEPTH} deep`;
  // Whoever sends a private key here has given it away already, and must hear of it.
  if (PRIVATE_MEMBERS.some((member) => member in jwk))
    return "must hold public members only; a key whose private or secret part was sent is no longer safe";
  const { kty, crv, use, key_ops: operations, alg, kid, ext } = jwk;
  const algorithms = typeof kty === "string" && Object.hasOwn(ALGORITHMS, kty) ? ALGORITHMS[kty] : undefined;
  if (!algorithms || CURVES[String(kty)] !== crv)
    return "must be an RSA, P-256 or Ed25519 public key (kty, and crv where it has one)";
  if (use !== undefined && use !== "sig") return 'use must be "sig" or absent';
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify")))
    return "key_ops must hold verify or be absent";
  if (alg !== undefined && !(isSigningAlg(alg) && algorithms.includes(alg)))
    return `alg must be ${algorithms.join(" or ")} or absent`;
  if (kid !== undefined && (typeof kid !== "string" || kid === "" || kid.length > 255))
    return "kid must be a text of 1 to 255 characters";
  if (ext !== undefined && typeof ext !== "boolean") return "ext must be a boolean or absent";
  return materialFault(jwk);
}

/** The numbers themselves: a point on its curve, a modulus and an exponent that are worth something. */
function materialFault(jwk: ClientJwk): string | undefined {
  const members = Object.fromEntries(
    PUBLIC_MEMBERS.flatMap((name) => (name in jwk ? [[name, jwk[name]]] : [])),
  );
  try {
    const key = createPublicKey({ key: members as webcrypto.JsonWebKey, format: "jwk" });
    if (key.asymmetricKeyType !== "rsa") return undefined;
    const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
    return modulusLength >= 2_048 && modulusLength <= 8_192 && publicExponent >= LEAST_EXPONENT
      ? undefined
      : "an RSA key must have 2048 to 8192 bits and an exponent of 65537 or more";
  } catch {
    return "is not a key: its members do not fit together";
  }
}

/** What is wrong with a whole set, each with the path of its member within it. */
export function clientJwksFaults(jwks: unknown): { path: string; message: string }[] {
  const keys = isObject(jwks) ? jwks["keys"] : undefined;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MOST_CLIENT_KEYS)
    return [{ path: "keys", message: `must be 1 to ${MOST_CLIENT_KEYS} public keys (RFC 7517 §5)` }];
  const faults = keys.flatMap((jwk, index) => {
    const message = clientJwkFault(jwk);
    return message === undefined ? [] : [{ path: `keys[${index}]`, message }];
  });
  // OpenID Connect Core §10.1: with several keys the token names its own.
  const kids = keys.map((jwk) => (isObject(jwk) ? jwk["kid"] : undefined));
  if (keys.length > 1 && (kids.includes(undefined) || new Set(kids).size < kids.length))
    faults.push({ path: "keys", message: "several keys need a kid each, no two the same" });
  return faults;
}

/**
 * The keys of a set that somebody serves: what we cannot use is left out, as RFC 7517 §5 asks, so that a client may
 * also publish keys for other purposes.
 * @returns undefined when the text is no key set
 */
export function usableClientJwks(text: string): ClientJwk[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const keys = isObject(value) ? value["keys"] : undefined;
  if (!Array.isArray(keys)) return undefined;
  return keys.slice(0, MOST_CLIENT_KEYS).filter((jwk) => clientJwkFault(jwk) === undefined);
}

function isObject(value: unknown): value is ClientJwk {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
