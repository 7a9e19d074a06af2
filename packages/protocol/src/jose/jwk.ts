/** Public JWKs (RFC 7517) and their thumbprints (RFC 7638). */
import { createPublicKey, hash, type KeyObject } from "node:crypto";
import type { PublicKeyMembers } from "./jwk-members.ts";
import type { TokenAlg } from "./jws.ts";

/** A signature key as a JWKS shows it (RFC 7517 §4). */
export interface PublicJwk extends PublicKeyMembers {
  readonly kty: string;
  readonly kid: string;
  readonly use: "sig";
  readonly alg: TokenAlg;
}

// All public members of each key type, in the lexicographic order that a thumbprint wants (RFC 7638 §3.2, RFC 8037 §2, RFC 9964 §6).
const membersOf: ReadonlyMap<string, readonly (keyof PublicKeyMembers)[]> = new Map([
  ["AKP", ["alg", "kty", "pub"]],
  ["EC", ["crv", "kty", "x", "y"]],
  ["OKP", ["crv", "kty", "x"]],
  ["RSA", ["e", "kty", "n"]],
]);

/** The public JWK of a private or public key. Members are picked by name, so that no private one can slip in. */
export function publicJwk(key: KeyObject, kid: string, alg: TokenAlg): PublicJwk {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  return { ...publicMembers(publicKey.export({ format: "jwk" })), kid, use: "sig", alg };
}

/** The SHA-256 thumbprint of a public or private JWK (RFC 7638 §3). Throws `TypeError` when a required member is missing. */
export function jwkThumbprint(jwk: PublicKeyMembers): string {
  return hash("sha256", JSON.stringify(publicMembers(jwk)), "base64url");
}

/** The public members in their lexicographic order (`kty` keeps the place that it has among them). */
function publicMembers(jwk: PublicKeyMembers): PublicKeyMembers & { readonly kty: string } {
  const { kty = "" } = jwk;
  const members = membersOf.get(kty);
  if (!members) throw new TypeError("not the JWK of an asymmetric key");
  const missing = members.find((member) => typeof jwk[member] !== "string");
  if (missing) throw new TypeError(`the JWK has no member ${missing}`);
  return { ...Object.fromEntries(members.map((member) => [member, jwk[member]])), kty };
}
