/** The keys that a provider publishes (RFC 7517 §5): fetched when needed, kept, fetched again when a token names a new one. */
import type { JWK } from "jose";
import { SignetError } from "../errors.ts";
import { publicKeyOf } from "../tokens/algorithms.ts";
import { isRecord } from "../tokens/claims.ts";
import type { KeySource, TokenKeyHeader } from "../tokens/key-source.ts";
import { type Http, providerFault } from "./http.ts";
import { createRefreshed } from "./refreshed.ts";
import { type UsableKeys, usableKeys } from "./usable-keys.ts";

const MINUTE_MS = 60_000;
/** How long a key set is taken as fresh when the provider does not say, and the bounds of what it may say. */
const FRESH_MS = 10 * MINUTE_MS;
const FRESH_BOUNDS_MS = [MINUTE_MS, 60 * MINUTE_MS] as const;
/** While the provider is away: a key that it may have withdrawn meanwhile is not trusted longer than this. */
const STALE_MS = 24 * 60 * MINUTE_MS;
/** Anybody can send tokens with made-up kids: they must not become calls to the provider. */
const RETRY_MS = MINUTE_MS;

export interface KeySetOptions {
  readonly jwksUri: () => Promise<string>;
  readonly http: Http;
  readonly clock: () => number;
  /** Told of failed refreshes that old keys have bridged. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** A set that answers with keys, and that the pinned modes of sovereign signing can look into. */
export interface KeySet extends KeySource {
  /** The one usable JWK for a header, as published; with `x5c` and all. Throws as `keyFor` does. */
  jwkFor(header: TokenKeyHeader): Promise<JWK>;
}

/** Makes a key set; nothing is fetched before the first token. */
export function createKeySet({ jwksUri, http, clock, onError }: KeySetOptions): KeySet {
  const keys = createRefreshed<UsableKeys>({
    load: async () => {
      const answer = await http.json(await jwksUri());
      if (answer.status !== 200) throw providerFault(answer, "its keys");
      if (!isRecord(answer.body) || !Array.isArray(answer.body["keys"]))
        throw new SignetError("provider_answer", "The provider's key set is not a JWKS.");
      return { value: usableKeys(answer.body["keys"]), freshMs: freshness(answer.headers) };
    },
    clock,
    onError,
    staleMs: STALE_MS,
    retryMs: RETRY_MS,
  });
  const jwkFor = async (header: TokenKeyHeader): Promise<JWK> => {
    const known = (await keys.get()).find(header);
    if ("jwk" in known) return known.jwk;
    const renewed = (await keys.renewed()).find(header);
    if ("jwk" in renewed) return renewed.jwk;
    throw renewed.error;
  };
  const imported = new WeakMap<JWK, Map<string, Promise<CryptoKey>>>();
  return {
    jwkFor,
    keyFor: async (header) => {
      const jwk = await jwkFor(header);
      const byAlg = imported.get(jwk) ?? new Map<string, Promise<CryptoKey>>();
      imported.set(jwk, byAlg);
      const key = byAlg.get(header.alg) ?? publicKeyOf(jwk, header.alg);
      byAlg.set(header.alg, key);
      return key;
    },
  };
}

function freshness(headers: Headers): number {
  const seconds = /\bmax-age=(\d{1,9})\b/i.exec(headers.get("cache-control") ?? "")?.[1];
  if (seconds === undefined) return FRESH_MS;
  const [least, most] = FRESH_BOUNDS_MS;
  return Math.min(Math.max(Number(seconds) * 1000, least), most);
}
