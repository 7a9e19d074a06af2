/** The keys that an identity provider signs with. A key that is not known is looked for once in thirty seconds. */
import { calculateJwkThumbprint, compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from "jose";
import type { Clock } from "../../../../core/clock.ts";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import type { Outbound } from "../../../../core/outbound/outbound.ts";
import { fetchJson } from "./fetch-json.ts";
import { sharedWork } from "./shared-work.ts";

/** Asymmetric ones alone: with the others the client secret, or nothing, would be the key (RFC 8725 §3.1). */
export const signatureAlgorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

const REFETCH_MS = 30_000;
const MAX_KEPT = 1_000;

export interface UpstreamKeys {
  /** @throws ConnectionSignInFailure unless one of the provider's keys has signed it */
  verify(connection: SignInConnection, jwksUri: string, token: string): Promise<void>;
}

export interface UpstreamKeysDeps {
  readonly outbound: Outbound;
  readonly clock: Clock;
  /** What the provider signs with now, in the order of the kids: told where it is another than before. */
  onKeys(connection: SignInConnection, kids: readonly string[]): Promise<void>;
}

interface Known {
  readonly keys: JSONWebKeySet;
  readonly fetchedAt: number;
}

export function upstreamKeys(deps: UpstreamKeysDeps): UpstreamKeys {
  const kept = new Map<string, Known>();
  const keep = (key: string, known: Known) => {
    kept.delete(key);
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? "");
    kept.set(key, known);
    return known;
  };
  const fetchKeys = async (connection: SignInConnection, jwksUri: string): Promise<Known> => {
    const keys = await fetchJson(deps.outbound, connection.orgId, jwksUri);
    if (!Array.isArray(keys["keys"]))
      throw new ConnectionSignInFailure("upstream-garbage", { detail: "the key set has no keys" });
    return { keys: keys as unknown as JSONWebKeySet, fetchedAt: deps.clock() };
  };
  const underWay = sharedWork<Known>();
  const fetched = (connection: SignInConnection, jwksUri: string): Promise<Known> => {
    const key = keyOf(connection, jwksUri);
    return underWay.run(key, async () => keep(key, await fetchKeys(connection, jwksUri)));
  };
  return {
    verify: async (connection, jwksUri, token) => {
      const key = keyOf(connection, jwksUri);
      const before = kept.get(key);
      const known = before ?? (await fetched(connection, jwksUri));
      const failure = await verifyFailure(token, known.keys);
      if (failure === undefined) {
        if (!before) await deps.onKeys(connection, await keyNames(known.keys));
        return;
      }
      const isOld = known.fetchedAt + REFETCH_MS <= deps.clock();
      if (failure !== "unknown-key" || !(isOld || underWay.has(key))) throw signatureInvalid(failure);
      // Whether or not it answers: anybody can name a key that is not there.
      if (isOld) keep(key, { ...known, fetchedAt: deps.clock() });
      const { keys } = await fetched(connection, jwksUri);
      const again = await verifyFailure(token, keys);
      if (again !== undefined) throw signatureInvalid(again);
      await deps.onKeys(connection, await keyNames(keys));
    },
  };
}

/** A connection's own: a fetch that one has caused is none of another's. */
const keyOf = ({ orgId, id }: SignInConnection, jwksUri: string) => `${orgId}|${id}|${jwksUri}`;

const MAX_KEYS = 100;

/** RFC 7638 thumbprints: a provider may give two keys one `kid`. Keys of another kind, which sign nothing here, are left out. */
async function keyNames({ keys }: JSONWebKeySet): Promise<string[]> {
  const names = await Promise.all(
    keys.slice(0, MAX_KEYS).map((jwk) => calculateJwkThumbprint(jwk).catch(() => undefined)),
  );
  return [...new Set(names.filter((name) => name !== undefined))].sort();
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
