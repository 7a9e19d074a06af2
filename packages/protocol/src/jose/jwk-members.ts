/** The members that make up a public key (RFC 7518 §6, RFC 8037 §2, RFC 9964 §3); which of them are there depends on `kty`. */
export interface PublicKeyMembers {
  readonly kty?: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly n?: string;
  readonly e?: string;
  /** Of `AKP`. */
  readonly pub?: string;
  readonly alg?: string;
}
