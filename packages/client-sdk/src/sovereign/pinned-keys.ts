/** Public keys pinned in the configuration itself (sovereign-signing.md §8). */
import { certifiedKeyOf } from "@signet/protocol/certificates/certificate-algorithms";
import { DerError, derTags, readDer } from "@signet/protocol/der/der";
import { publicKeyInPem } from "@signet/protocol/der/pem";
import { calculateJwkThumbprint, type JWK } from "jose";
import { configurationError, type SignetError } from "../errors.ts";
import { createJwkLookup, type JwkLookup, type KeySet } from "../provider/key-set.ts";
import { hasSecretMembers } from "../tokens/algorithms.ts";

/**
 * A token may name a pinned key by its RFC 7638 thumbprint, as agents do, or by its JWK's `kid`.
 *
 * @param configured JWKs, or PEM (SPKI)
 * @throws SignetError `configuration` for anything that isn't a public key
 */
export function createPinnedKeys(configured: readonly (JWK | string)[]): Pick<KeySet, "jwkFor"> {
  const keys = configured.map((key) => (typeof key === "string" ? parsePem(key) : requirePublic(key)));
  let lookup: Promise<JwkLookup> | undefined;
  return {
    jwkFor: async (header) => {
      lookup ??= indexKeys(keys);
      const found = (await lookup).find(header);
      if ("error" in found) throw found.error;
      return found.jwk;
    },
  };
}

/** Each key under both of its names. A key listed twice counts once. */
async function indexKeys(keys: readonly JWK[]): Promise<JwkLookup> {
  const byName = new Map<string, JWK>();
  for (const key of keys) {
    const thumbprint = await calculateJwkThumbprint(key, "sha256");
    for (const kid of new Set([thumbprint, key.kid ?? thumbprint]))
      byName.set(`${thumbprint} ${kid}`, { ...key, kid });
  }
  return createJwkLookup([...byName.values()]);
}

function requirePublic(jwk: JWK): JWK {
  if (hasSecretMembers(jwk)) throw invalidKey("is private: it must never leave its agent, replace it");
  const required = requiredMembers.get(jwk.kty ?? "");
  if (!required?.every((member) => typeof jwk[member] === "string")) throw invalidKey("is not a public key");
  return jwk;
}

const requiredMembers: ReadonlyMap<string, readonly ("crv" | "x" | "y" | "n" | "e")[]> = new Map([
  ["EC", ["crv", "x", "y"]],
  ["OKP", ["crv", "x"]],
  ["RSA", ["n", "e"]],
]);

function parsePem(pem: string): JWK {
  try {
    const key = certifiedKeyOf(readDer(publicKeyInPem(pem), derTags.sequence));
    if (key && key.pssOnly === undefined) return { ...key.jwk };
  } catch (cause) {
    if (!(cause instanceof DerError)) throw cause;
  }
  throw invalidKey(
    "must be one PEM public key: P-256, P-384, P-521, Ed25519, or RSA with at least 2048 bits",
  );
}

const invalidKey = (problem: string): SignetError => configurationError(`A sovereign public key ${problem}.`);
