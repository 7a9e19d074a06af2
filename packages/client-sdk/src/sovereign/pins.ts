/** Pins (sovereign-signing.md §8): requirements on a key beyond being the one a token names, and configured keys. */
import { certifiedKeyOf } from "@signet/protocol/certificates/certificate-algorithms";
import { x5cChainFault } from "@signet/protocol/certificates/x5c-chain";
import { DerError, derTags, readDer } from "@signet/protocol/der/der";
import { certificateInPem, publicKeyInPem } from "@signet/protocol/der/pem";
import { calculateJwkThumbprint, type JWK } from "jose";
import type { SovereignSettings } from "../configuration/settings.ts";
import { configurationError, SignetError } from "../errors.ts";
import { createJwkLookup, type JwkLookup, type KeySet } from "../provider/key-set.ts";
import { hasSecretMembers, publicMembers } from "../tokens/algorithms.ts";
import { withoutUndefined } from "../tokens/claims.ts";

/** @throws SignetError `token_key_untrusted` for a key that isn't pinned */
export type Pin = (jwk: JWK) => Promise<void>;

/** How long a valid chain isn't checked again: less than the accepted clock skew. */
const CHAIN_FRESH_MS = 60_000;

/** @throws SignetError `configuration` if production pins nothing, if there are several kinds of pins, or an unreadable root */
export function createPin(sovereign: SovereignSettings, environment: string, clock: () => number): Pin {
  const { trustedRoots, thumbprints, publicKeys, poolIssuer, allowUnpinned } = sovereign;
  const kinds = [trustedRoots, thumbprints, publicKeys].filter((list) => list.length > 0).length;
  if (kinds > 1) throw configurationError("More than one kind of pin.");
  if (trustedRoots.length > 0) return pinRoots(trustedRoots, poolIssuer, clock);
  if (thumbprints.length > 0) return pinThumbprints(thumbprints);
  if (publicKeys.length === 0 && poolIssuer === undefined)
    throw configurationError("Neither a signing pool nor a pin.");
  if (publicKeys.length === 0 && environment === "production" && !allowUnpinned)
    throw configurationError("Production needs a pin beside the pool: roots, thumbprints or public keys.");
  // Public keys come from the configuration itself; a pool without pins is trusted.
  return async () => {};
}

function pinRoots(trustedRoots: readonly string[], poolIssuer: string | undefined, clock: () => number): Pin {
  if (poolIssuer === undefined)
    throw configurationError("Trusted roots need the pool that certificates must name.");
  for (const root of trustedRoots) requireCertificate(root);
  const validSince = new WeakMap<JWK, number>();
  return async (jwk) => {
    const now = clock();
    const since = validSince.get(jwk);
    // Checked again also if the clock was set back.
    if (since !== undefined && now >= since && now < since + CHAIN_FRESH_MS) return;
    const x5c: unknown = jwk.x5c;
    if (!isStringList(x5c)) throw untrusted("The token's key has no certificates.");
    const { kty, crv, x, y, n, e, pub, alg } = jwk;
    const publicJwk = withoutUndefined({ kty, crv, x, y, n, e, pub, alg });
    const problem = await x5cChainFault({ x5c, trustedRoots, publicJwk, subjectUri: poolIssuer, now });
    if (problem !== undefined)
      throw untrusted("The certificate chain of the token's key is not trusted.", new Error(problem));
    validSince.set(jwk, now);
  };
}

function pinThumbprints(thumbprints: readonly string[]): Pin {
  return async (jwk) => {
    // Computed from the key itself: what the key set or the token calls it proves nothing.
    const thumbprint = await calculateJwkThumbprint(jwk, "sha256").catch((cause: unknown) => {
      throw untrusted("The token's key is invalid.", cause);
    });
    if (!thumbprints.includes(thumbprint)) throw untrusted("The token's key is not pinned.");
  };
}

function requireCertificate(pem: string): void {
  try {
    certificateInPem(pem);
  } catch (cause) {
    if (!(cause instanceof DerError)) throw cause;
    throw configurationError("A trusted root is not one certificate in PEM.");
  }
}

const isStringList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

const untrusted = (message: string, cause?: unknown): SignetError =>
  new SignetError("token_key_untrusted", message, { cause });

/**
 * A token names a pinned key by its RFC 7638 thumbprint, as agents do, or by its JWK's `kid`.
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
  const members = Object.entries(publicMembers).find(([kty]) => kty === jwk.kty)?.[1];
  if (!members?.every((member) => typeof jwk[member] === "string")) throw invalidKey("is not a public key");
  return jwk;
}

function parsePem(pem: string): JWK {
  try {
    const key = certifiedKeyOf(readDer(publicKeyInPem(pem), derTags.sequence));
    if (key && key.pssOnly === undefined) return { ...key.jwk };
  } catch (cause) {
    if (!(cause instanceof DerError)) throw cause;
  }
  throw invalidKey(
    "must be one PEM public key: P-256, P-384, P-521, Ed25519, ML-DSA, or RSA with at least 2048 bits",
  );
}

const invalidKey = (problem: string): SignetError => configurationError(`A sovereign public key ${problem}.`);
