/** Where the key comes from that a token's signature is verified with: the provider's key set, or pinned sovereign keys. */

export interface KeySource {
  /**
   * The public key that the header of a token names. `alg` has been checked against the allowed ones before.
   *
   * Throws `SignetError`: `token_key_unknown` (no such key), `token_key_untrusted` (there is one, but it may not be used),
   * `token_algorithm` (the key is of another type than `alg` needs), `provider_unreachable`, `provider_answer`.
   */
  keyFor(header: TokenKeyHeader): Promise<CryptoKey>;
}

/** What of a token's header chooses the key. `jku`, `x5u`, `jwk` and `x5c` never do: the token would vouch for itself. */
export interface TokenKeyHeader {
  readonly alg: string;
  readonly kid?: string;
}
