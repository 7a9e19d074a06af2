/** Keys that verify token signatures: the provider's key set, or pinned sovereign keys. */

export interface KeySource {
  /**
   * The public key a token's header names. `alg` is already known to be acceptable.
   *
   * @throws SignetError `token_key_unknown` (no such key), `token_key_untrusted` (it must not be used), `token_algorithm` (it
   * doesn't fit `alg`), `provider_unreachable`, `provider_answer`
   */
  keyFor(header: TokenKeyHeader): Promise<CryptoKey>;
}

/** The header members that select the key. Never `jku`, `x5u`, `jwk` or `x5c`: the token would vouch for itself. */
export interface TokenKeyHeader {
  readonly alg: string;
  readonly kid?: string;
}
