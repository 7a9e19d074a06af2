/** Which keys of a published set may verify tokens (RFC 7517 §4, §5; RFC 8725 §3.1). */
import type { JWK } from "jose";
import { SignetError } from "../errors.ts";
import { fitsAlgorithm } from "../tokens/algorithms.ts";
import { isRecord } from "../tokens/claims.ts";
import type { TokenKeyHeader } from "../tokens/key-source.ts";

/** Providers have a handful. */
const MAX_KEYS = 100;

export interface UsableKeys {
  find(header: TokenKeyHeader): { readonly jwk: JWK } | { readonly error: SignetError };
}

/** Sorts a published set. A key that may not be used is kept as such, so that a token that names it is refused by that reason. */
export function usableKeys(published: readonly unknown[]): UsableKeys {
  if (published.length > MAX_KEYS)
    throw new SignetError("provider_answer", "The provider's key set is too large.");
  const keys = published.filter(isRecord).map((key) => key as JWK);
  const usable = keys.filter(isUsable);
  return {
    find: ({ alg, kid }) => {
      // Without a kid only one key may fit: to try several would let a token choose (OpenID Connect Core §10.1).
      const named =
        kid === undefined
          ? usable.filter((key) => fitsAlgorithm(key, alg))
          : keys.filter((key) => key.kid === kid);
      const [jwk, ...others] = named;
      if (!jwk) return { error: new SignetError("token_key_unknown", "The token's key is not known.") };
      // Two keys of one kid: it cannot be told which one is meant, and one of them may have been slipped in.
      if (others.length > 0 || !usable.includes(jwk))
        return {
          error: new SignetError("token_key_untrusted", "The key that the token names may not be used."),
        };
      return { jwk };
    },
  };
}

/** For signatures, and public: a private or a symmetric key in public is in everybody's hands. */
function isUsable(key: JWK): boolean {
  const isSecret = key.kty === "oct" || ["d", "p", "q", "k"].some((member) => member in key);
  if (isSecret || (key.use !== undefined && key.use !== "sig")) return false;
  return key.key_ops === undefined || (Array.isArray(key.key_ops) && key.key_ops.includes("verify"));
}
