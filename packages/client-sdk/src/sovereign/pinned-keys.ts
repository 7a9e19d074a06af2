/** The public keys that a configuration has in itself. */
import { certifiedKeyOf } from "@signet/protocol/certificates/certificate-algorithms";
import { DerError, derTags, readDer } from "@signet/protocol/der/der";
import { publicKeyInPem } from "@signet/protocol/der/pem";
import { calculateJwkThumbprint, type JWK } from "jose";
import { SignetError } from "../errors.ts";
import { usableKeys } from "../provider/usable-keys.ts";
import type { CandidateKeys } from "./candidate-keys.ts";

/**
 * @param given JWKs, or PEM (SPKI). A token may name such a key by its RFC 7638 thumbprint, as agents do, or by the `kid` that
 * its JWK has. Throws `SignetError` `configuration` for what is no public key.
 */
export function pinnedKeys(given: readonly (JWK | string)[]): CandidateKeys {
  const keys = given.map((key) => (typeof key === "string" ? jwkInPem(key) : publicJwk(key)));
  let named: Promise<ReturnType<typeof usableKeys>> | undefined;
  return {
    jwkFor: async (header) => {
      named ??= byNames(keys);
      const found = (await named).find(header);
      if ("error" in found) throw found.error;
      return found.jwk;
    },
  };
}

/** Each under both of its names. The same key twice in the list is one key. */
async function byNames(keys: readonly JWK[]): Promise<ReturnType<typeof usableKeys>> {
  const named = new Map<string, JWK>();
  for (const key of keys) {
    const thumbprint = await calculateJwkThumbprint(key, "sha256");
    for (const kid of new Set([thumbprint, key.kid ?? thumbprint]))
      named.set(`${thumbprint} ${kid}`, { ...key, kid });
  }
  return usableKeys([...named.values()]);
}

function publicJwk(jwk: JWK): JWK {
  const isPrivate = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].some((member) => member in jwk);
  if (isPrivate) throw unusable("holds a private key: it must never leave its agent, replace it");
  const members = membersOf.get(jwk.kty ?? "");
  if (!members?.every((member) => typeof jwk[member] === "string")) throw unusable("is not a public key");
  return jwk;
}

const membersOf: ReadonlyMap<string, readonly ("crv" | "x" | "y" | "n" | "e")[]> = new Map([
  ["EC", ["crv", "x", "y"]],
  ["OKP", ["crv", "x"]],
  ["RSA", ["n", "e"]],
]);

function jwkInPem(pem: string): JWK {
  try {
    const key = certifiedKeyOf(readDer(publicKeyInPem(pem), derTags.sequence));
    if (key && key.pssOnly === undefined) return { ...key.jwk };
  } catch (cause) {
    if (!(cause instanceof DerError)) throw cause;
  }
  throw unusable(
    "is not one public key in PEM (BEGIN PUBLIC KEY): P-256, P-384, P-521, Ed25519 or RSA from 2048 bits",
  );
}

function unusable(fault: string): SignetError {
  const reason = `A sovereign public key ${fault}.`;
  return new SignetError("configuration", `The configuration cannot work: ${reason}`, { reasons: [reason] });
}
