/** Keys of signing agents, as far as the configuration trusts them (sovereign-signing.md §8). */
import type { Settings } from "../configuration/settings.ts";
import { configurationError, SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { createProvider, type Provider } from "../provider/discovery.ts";
import { createHttp } from "../provider/http.ts";
import { createKeyImporter, createKeySet, type KeySet } from "../provider/key-set.ts";
import type { KeySource, TokenKeyHeader } from "../tokens/verify-jwt.ts";
import { createPin, createPinnedKeys } from "./pins.ts";

/** The settings that decide which keys are trusted. */
export type SovereignKeySettings = Pick<Settings, "environment" | "issuer" | "sovereign">;

/** With sovereign settings never the provider's own keys, with which the service could sign by itself. */
export function createTrustedKeys(
  settings: Settings,
  provider: Pick<Provider, "keys"> | undefined,
  runtime: Runtime,
): KeySource {
  if (settings.sovereign) return createSovereignKeySource(settings, runtime);
  if (!provider) throw new SignetError("configuration", "No provider whose keys could be trusted.");
  return provider.keys;
}

/**
 * The keys that may have signed a token, in one of four modes:
 *
 * - pool only: every key the service publishes for the pool. Stops outsiders and tokens the service signs itself, but not a
 *   service that publishes keys of its choice, so `production` rejects it unless forced.
 * - trusted roots: published keys whose certificates lead to a pinned root and name the pool.
 * - thumbprints: published keys whose computed RFC 7638 thumbprint is pinned.
 * - public keys: the configured ones. Nothing is fetched.
 *
 * `requiredKeyId` further restricts any mode to one `kid`. None of the modes ever accepts the organisation's own keys.
 * @throws SignetError `configuration` for settings that trust no key, or too many. `keyFor` throws as `KeySource` says:
 * `token_key_unknown` for an unknown key, `token_key_untrusted` for one that isn't pinned.
 */
export function createSovereignKeySource(settings: SovereignKeySettings, runtime: Runtime = {}): KeySource {
  const { sovereign } = settings;
  if (!sovereign) throw configurationError("Neither a signing pool nor a pin.");
  const clock = runtime.clock ?? Date.now;
  const requirePinned = createPin(sovereign, settings.environment, clock);
  const keys =
    sovereign.publicKeys.length > 0
      ? createPinnedKeys(sovereign.publicKeys)
      : publishedKeys(settings, runtime, clock);
  const importKey = createKeyImporter();
  return {
    keyFor: async (header) => {
      const kid = requireKid(header, sovereign.requiredKeyId);
      const jwk = await keys.jwkFor({ alg: header.alg, kid });
      // The very object that was checked is used: a second look-up could return another key.
      await requirePinned(jwk);
      return importKey(jwk, header.alg);
    },
  };
}

function publishedKeys(
  { environment, issuer, sovereign }: SovereignKeySettings,
  runtime: Runtime,
  clock: () => number,
): KeySet {
  const http = createHttp(runtime, { environment });
  const { onError } = runtime;
  // Always the pool's own key set, wherever its metadata may point.
  const { poolIssuer } = sovereign ?? {};
  if (poolIssuer !== undefined)
    return createKeySet({ jwksUri: async () => `${poolIssuer}/jwks.json`, http, clock, onError });
  if (issuer === undefined) throw configurationError("Thumbprints without a pool need an issuer.");
  return createProvider({ issuer, http, clock, onError }).keys;
}

/** Agents name their keys (sovereign-signing.md §6); a token without `kid` would match any key that fits. */
function requireKid({ kid }: TokenKeyHeader, required: string | undefined): string {
  if (kid === undefined) throw new SignetError("token_key_unknown", "The token has no kid.");
  if (required !== undefined && kid !== required)
    throw new SignetError("token_key_untrusted", "The token's kid is not the required one.");
  return kid;
}
