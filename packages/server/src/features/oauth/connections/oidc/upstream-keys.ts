/** The keys that an identity provider signs with. A key that is not known is looked for once in thirty seconds. */
import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from "jose";
import type { Clock } from "../../../../core/clock.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import type { Outbound } from "../../../../core/outbound/outbound.ts";
import { fetchJson } from "./fetch-json.ts";

/** Asymmetric ones alone: with the others the client secret, or nothing, would be the key (RFC 8725 §3.1). */
export const signatureAlgorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

const REFETCH_MS = 30_000;
const MAX_KEPT = 1_000;

export interface UpstreamKeys {
  /** @throws ConnectionSignInFailure unless one of the provider's keys has signed it */
  verify(orgId: string, jwksUri: string, token: string): Promise<void>;
}

interface Known {
  readonly keys: JSONWebKeySet;
  readonly fetchedAt: number;
}

export function upstreamKeys(deps: { readonly outbound: Outbound; readonly clock: Clock }): UpstreamKeys {
  const kept = new Map<string, Known>();
  const fetched = async (orgId: string, jwksUri: string): Promise<Known> => {
    const keys = await fetchJson(deps.outbound, orgId, jwksUri);
    if (!Array.isArray(keys["keys"]))
      throw new ConnectionSignInFailure("upstream-garbage", { detail: "the key set has no keys" });
    const known = { keys: keys as unknown as JSONWebKeySet, fetchedAt: deps.clock() };
    const key = `${orgId}|${jwksUri}`;
    kept.delete(key);
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? "");
    kept.set(key, known);
    return known;
  };
  return {
    verify: async (orgId, jwksUri, token) => {
      const known = kept.get(`${orgId}|${jwksUri}`) ?? (await fetched(orgId, jwksUri));
      const failure = await verifyFailure(token, known.keys);
      if (failure === undefined) return;
      const isOld = known.fetchedAt + REFETCH_MS <= deps.clock();
      if (failure !== "unknown-key" || !isOld) throw signatureInvalid(failure);
      const again = await verifyFailure(token, (await fetched(orgId, jwksUri)).keys);
      if (again !== undefined) throw signatureInvalid(again);
    },
  };
}

const signatureInvalid = (detail: string) => new ConnectionSignInFailure("signature-invalid", { detail });

/** @returns why it is not signed by one of the keys. @throws ConnectionSignInFailure algorithm-refused */
async function verifyFailure(token: string, keys: JSONWebKeySet): Promise<string | undefined> {
  try {
    await compactVerify(token, createLocalJWKSet(keys), { algorithms: signatureAlgorithms });
    return undefined;
  } catch (error) {
    if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported)
      throw new ConnectionSignInFailure("algorithm-refused", { cause: error });
    if (error instanceof errors.JWKSNoMatchingKey) return "unknown-key";
    if (error instanceof errors.JWKSMultipleMatchingKeys) return "several keys fit";
    if (error instanceof errors.JOSEError) return "no key of the provider signed it";
    return "the provider's keys are unusable";
  }
}
