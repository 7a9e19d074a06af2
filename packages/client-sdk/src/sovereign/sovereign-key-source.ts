/** Keys of signing agents, as far as the configuration trusts them (sovereign-signing.md §8). Nothing else is ever asked. */
import type { JWK } from "jose";
import type { Settings } from "../configuration.ts";
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { createProvider } from "../provider/discovery.ts";
import { createHttp } from "../provider/http.ts";
import { createKeySet } from "../provider/key-set.ts";
import { publicKeyOf } from "../tokens/algorithms.ts";
import type { KeySource, TokenKeyHeader } from "../tokens/key-source.ts";
import type { CandidateKeys } from "./candidate-keys.ts";
import { pinnedKeys } from "./pinned-keys.ts";
import { pinOf } from "./pins.ts";

/** What of a checked configuration says whose keys are trusted. */
export type SovereignKeySettings = Pick<Settings, "environment" | "issuer" | "sovereign">;

/**
 * The keys that may have signed a token, by one of four modes:
 *
 * - a pool alone: those that the service publishes for the pool. It stops outsiders and tokens that the service signs itself,
 *   not a service that publishes keys of its own choice: so `production` refuses it, unless it is forced.
 * - trusted roots: those of them whose certificates lead to a pinned root and name the pool.
 * - thumbprints: those of them whose RFC 7638 thumbprint, worked out from the key itself, is pinned.
 * - public keys: those in the configuration. Nothing is fetched.
 *
 * With `requiredKeyId` a token must name that key besides. There is no way from here to the organisation's own keys.
 *
 * Throws `SignetError` `configuration` for settings that trust nobody, or too much. What `keyFor` throws says `KeySource`:
 * `token_key_unknown` for a key that nobody knows, `token_key_untrusted` for one that is not pinned.
 */
export function createSovereignKeySource(settings: SovereignKeySettings, runtime: Runtime = {}): KeySource {
  const { sovereign } = settings;
  if (!sovereign) throw unusable("There is neither a signing pool nor a pin.");
  const clock = runtime.clock ?? Date.now;
  const pin = pinOf(sovereign, settings.environment, clock);
  const candidates =
    sovereign.publicKeys.length > 0
      ? pinnedKeys(sovereign.publicKeys)
      : publishedKeys(settings, runtime, clock);
  const imported = new WeakMap<JWK, Map<string, Promise<CryptoKey>>>();
  return {
    keyFor: async (header) => {
      const kid = requiredKid(header, sovereign.requiredKeyId);
      const jwk = await candidates.jwkFor({ alg: header.alg, kid });
      // What is judged here is what is used: asking the key set a second time could give another key.
      await pin(jwk);
      const byAlg = imported.get(jwk) ?? new Map<string, Promise<CryptoKey>>();
      imported.set(jwk, byAlg);
      const key = byAlg.get(header.alg) ?? publicKeyOf(jwk, header.alg);
      byAlg.set(header.alg, key);
      return key;
    },
  };
}

function publishedKeys(
  { environment, issuer, sovereign }: SovereignKeySettings,
  runtime: Runtime,
  clock: () => number,
): CandidateKeys {
  const http = createHttp(runtime, { environment });
  const { onError } = runtime;
  // The pool's own set and no other, wherever its metadata may point.
  const { poolIssuer } = sovereign ?? {};
  if (poolIssuer !== undefined)
    return createKeySet({ jwksUri: async () => `${poolIssuer}/jwks.json`, http, clock, onError });
  if (issuer === undefined) throw unusable("Thumbprints alone need an issuer whose keys they are.");
  return createProvider({ issuer, http, clock, onError }).keys;
}

function requiredKid({ kid }: TokenKeyHeader, required: string | undefined): string {
  // Agents name their keys (sovereign-signing.md §6); a token that names none would match whatever fits.
  if (kid === undefined) throw new SignetError("token_key_unknown", "The token names no key.");
  if (required !== undefined && kid !== required)
    throw new SignetError(
      "token_key_untrusted",
      "The token names another key than the one that is required.",
    );
  return kid;
}

function unusable(reason: string): SignetError {
  return new SignetError("configuration", `The configuration cannot work: ${reason}`, { reasons: [reason] });
}
