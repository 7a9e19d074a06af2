/** What a key must be, beside being the one that the token names: the pins of sovereign-signing.md §8. */

import { x5cChainFault } from "@signet/protocol/certificates/x5c-chain";
import { DerError } from "@signet/protocol/der/der";
import { certificateInPem } from "@signet/protocol/der/pem";
import { calculateJwkThumbprint, type JWK } from "jose";
import type { SovereignSettings } from "../configuration.ts";
import { SignetError } from "../errors.ts";

/** Throws `SignetError` `token_key_untrusted` for a key that is not pinned. */
export type Pin = (jwk: JWK) => Promise<void>;

/** How long a chain that was good is taken for good: less than what clocks may differ. */
const CHAIN_FRESH_MS = 60_000;

/** Throws `SignetError` `configuration` when nothing is pinned in production, or more than one way, or a root cannot be read. */
export function pinOf(sovereign: SovereignSettings, environment: string, clock: () => number): Pin {
  const { trustedRoots, thumbprints, publicKeys, poolIssuer, allowUnpinned } = sovereign;
  const ways = [trustedRoots, thumbprints, publicKeys].filter((list) => list.length > 0).length;
  if (ways > 1) throw unusable("More than one kind of pin: it is not clear which one decides.");
  if (trustedRoots.length > 0) return rootsPin(trustedRoots, poolIssuer, clock);
  if (thumbprints.length > 0) return thumbprintsPin(thumbprints);
  if (publicKeys.length === 0 && poolIssuer === undefined)
    throw unusable("There is neither a signing pool nor a pin.");
  if (publicKeys.length === 0 && environment === "production" && !allowUnpinned)
    throw unusable("A signing pool alone is not for production: pin roots, thumbprints or public keys.");
  // Public keys come from the configuration itself; a pool alone is believed.
  return async () => {};
}

function rootsPin(trustedRoots: readonly string[], poolIssuer: string | undefined, clock: () => number): Pin {
  if (poolIssuer === undefined) throw unusable("Trusted roots need the pool that certificates must name.");
  for (const root of trustedRoots) requireCertificate(root);
  const goodSince = new WeakMap<JWK, number>();
  return async (jwk) => {
    const now = clock();
    const since = goodSince.get(jwk);
    // Also when the clock was set back, the certificates are looked at again.
    if (since !== undefined && now >= since && now < since + CHAIN_FRESH_MS) return;
    const x5c: unknown = jwk.x5c;
    if (!isTexts(x5c)) throw untrusted("The token's key has no certificates.");
    const { kty, crv, x, y, n, e } = jwk;
    const members = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined);
    const publicJwk = Object.fromEntries(members);
    const fault = await x5cChainFault({ x5c, trustedRoots, publicJwk, subjectUri: poolIssuer, now });
    if (fault !== undefined) throw untrusted("The certificates of the token's key are not trusted.", fault);
    goodSince.set(jwk, now);
  };
}

function thumbprintsPin(thumbprints: readonly string[]): Pin {
  return async (jwk) => {
    // From the members that make up the key: what the set, or the token, calls it proves nothing.
    const thumbprint = await calculateJwkThumbprint(jwk, "sha256").catch((cause: unknown) => {
      throw untrusted("The token's key cannot be read.", cause);
    });
    if (!thumbprints.includes(thumbprint)) throw untrusted("The token's key is not among the pinned ones.");
  };
}

function requireCertificate(pem: string): void {
  try {
    certificateInPem(pem);
  } catch (cause) {
    if (!(cause instanceof DerError)) throw cause;
    throw unusable("A trusted root is not one certificate in PEM.");
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

function untrusted(message: string, fault?: unknown): SignetError {
  const cause = typeof fault === "string" ? new Error(fault) : fault;
  return new SignetError("token_key_untrusted", message, cause === undefined ? {} : { cause });
}

function unusable(reason: string): SignetError {
  return new SignetError("configuration", `The configuration cannot work: ${reason}`, { reasons: [reason] });
}
