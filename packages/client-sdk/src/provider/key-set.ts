/** A provider's JWKS (RFC 7517 §5): cached, fetched again for an unknown `kid`, and filtered for usable keys (RFC 8725 §3.1). */
import type { JWK } from "jose";
import { SignetError } from "../errors.ts";
import { fitsAlgorithm, hasSecretMembers, importPublicKey } from "../tokens/algorithms.ts";
import { isRecord } from "../tokens/claims.ts";
import type { KeySource, TokenKeyHeader } from "../tokens/verify-jwt.ts";
import { type CachedDocumentOptions, createCachedDocument } from "./cached-document.ts";
import { type Http, providerError } from "./http.ts";

const MINUTE_MS = 60_000;
/** Default freshness, and the bounds for the provider's `max-age`. */
const FRESH_MS = 10 * MINUTE_MS;
const MIN_FRESH_MS = MINUTE_MS;
const MAX_FRESH_MS = 60 * MINUTE_MS;
/** Longest use of a key while the provider is unavailable and may have withdrawn it. */
const STALE_MS = 24 * 60 * MINUTE_MS;
/** Between two attempts to replace a stale key set while the provider is unavailable. */
const RETRY_MS = MINUTE_MS;
const MAX_KEYS = 100;

interface KeySetOptions extends Pick<CachedDocumentOptions<unknown>, "clock" | "onError"> {
  readonly http: Http;
  readonly jwksUri: () => Promise<string>;
}

/** A key source that also gives out the published JWKs, for the pinned modes of sovereign signing. */
export interface KeySet extends KeySource {
  /** The one usable JWK for a header, as published, including `x5c`. Throws as `keyFor` does. */
  jwkFor(header: TokenKeyHeader): Promise<JWK>;
}

/** Creates a key set. Nothing is fetched before the first token. */
export function createKeySet({ jwksUri, http, clock, onError }: KeySetOptions): KeySet {
  const jwks = createCachedDocument<JwkLookup>({
    load: async () => {
      const response = await http.json(await jwksUri());
      if (response.status !== 200) throw providerError(response, "key set");
      if (!isRecord(response.body) || !Array.isArray(response.body["keys"]))
        throw new SignetError("provider_answer", "The provider's key set is not a JWKS.");
      return { value: createJwkLookup(response.body["keys"]), freshMs: freshness(response.headers) };
    },
    ...{ clock, onError, staleMs: STALE_MS, retryMs: RETRY_MS },
  });
  const jwkFor = async (header: TokenKeyHeader): Promise<JWK> => {
    const loads = jwks.loads();
    const cached = (await jwks.get()).find(header);
    if ("jwk" in cached) return cached.jwk;
    // Fetched for this very token: it can't be newer.
    if (jwks.loads() > loads) throw cached.error;
    // At once, within a budget: the key may be new, but anyone can send tokens with made-up kids.
    const refreshed = (await jwks.refresh()).find(header);
    if ("jwk" in refreshed) return refreshed.jwk;
    throw refreshed.error;
  };
  const importKey = createKeyImporter();
  return { jwkFor, keyFor: async (header) => importKey(await jwkFor(header), header.alg) };
}

/** Imports each JWK once per algorithm. */
export function createKeyImporter(): (jwk: JWK, alg: string) => Promise<CryptoKey> {
  const imported = new WeakMap<JWK, Map<string, Promise<CryptoKey>>>();
  return (jwk, alg) => {
    const byAlgorithm = imported.get(jwk) ?? new Map<string, Promise<CryptoKey>>();
    imported.set(jwk, byAlgorithm);
    const key = byAlgorithm.get(alg) ?? importPublicKey(jwk, alg);
    byAlgorithm.set(alg, key);
    return key;
  };
}

function freshness(headers: Headers): number {
  const seconds = /\bmax-age=(\d{1,9})\b/i.exec(headers.get("cache-control") ?? "")?.[1];
  if (seconds === undefined) return FRESH_MS;
  return Math.min(Math.max(Number(seconds) * 1000, MIN_FRESH_MS), MAX_FRESH_MS);
}

export type JwkLookup = ReturnType<typeof createJwkLookup>;

/** Unusable keys stay in the lookup, so that a token naming one is rejected for that reason. */
export function createJwkLookup(published: readonly unknown[]) {
  if (published.length > MAX_KEYS)
    throw new SignetError("provider_answer", "The provider's key set is too large.");
  const keys = published.filter(isRecord).map((key) => key as JWK);
  const usable = keys.filter(isUsable);
  return {
    find: ({ alg, kid }: TokenKeyHeader): { readonly jwk: JWK } | { readonly error: SignetError } => {
      // Without a kid, exactly one key must match: trying several would let a token choose (OpenID Connect Core §10.1).
      const matches =
        kid === undefined
          ? usable.filter((key) => fitsAlgorithm(key, alg))
          : keys.filter((key) => key.kid === kid);
      const [jwk, ...others] = matches;
      if (!jwk) return { error: new SignetError("token_key_unknown", "The token's key is unknown.") };
      // Two keys with the same kid are ambiguous, and one may have been slipped in.
      if (others.length > 0 || !usable.includes(jwk))
        return { error: new SignetError("token_key_untrusted", "The token's key must not be used.") };
      return { jwk };
    },
  };
}

/** Public signature keys. A published private or symmetric key is compromised. */
function isUsable(key: JWK): boolean {
  if (key.kty === "oct" || hasSecretMembers(key)) return false;
  if (key.use !== undefined && key.use !== "sig") return false;
  return key.key_ops === undefined || (Array.isArray(key.key_ops) && key.key_ops.includes("verify"));
}
