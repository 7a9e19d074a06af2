/**
 * A signing key, wherever it is: PEM file, PKCS#11 token, or the operator's own module, which implements `KeySource`
 * (sovereign-signing.md §9, docs/signing-agent.md).
 */
import { createPublicKey, type KeyObject, type webcrypto } from "node:crypto";
import {
  type AgentAlg,
  checkAgentSignature,
  defaultAgentAlg,
  fitsAgentAlg,
  isAgentAlg,
} from "@signet/protocol/agent-signature";
import { jwkThumbprint } from "@signet/protocol/jose/jwk";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";

export interface KeySource {
  readonly publicJwk: PublicKeyMembers;
  readonly alg: AgentAlg;
  /**
   * Signs these bytes as JWS needs it (RFC 7518 §3, RFC 8037 §3.1, RFC 9964 §4): for ECDSA r and s concatenated, not DER; for
   * ML-DSA the message itself (not HashML-DSA), with an empty context.
   * May be called concurrently. Throws when the key cannot be used now.
   */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
  close?(): Promise<void>;
}

/** A checked source, with the names that the service knows it by. */
export interface AgentKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  readonly alg: AgentAlg;
  readonly publicJwk: PublicKeyMembers;
  /** Base64 DER, leaf first, as in a token's header; undefined without a certificate. */
  readonly x5c: readonly string[] | undefined;
  /** Where the key is, for people. */
  readonly location: string;
  /** @returns base64url. @throws Error also for a signature that the public key does not verify */
  sign(signingInput: string): Promise<string>;
  close(): Promise<void>;
}

export class InvalidKey extends Error {
  override name = "InvalidKey";
}

/** @throws InvalidKey when the source's alg is unknown or does not fit its key */
export function agentKey(source: KeySource, location: string, x5c?: readonly string[]): AgentKey {
  const publicKey = importPublicJwk(source.publicJwk, location);
  // A module may return more, a private key even: nothing but this is registered.
  const publicJwk = publicKey.export({ format: "jwk" }) as PublicKeyMembers;
  const { alg } = source;
  if (!isAgentAlg(alg) || !fitsAgentAlg({ publicKey, alg }))
    throw new InvalidKey(`${location}: not a key for ${alg}`);
  return {
    kid: jwkThumbprint(publicJwk),
    alg,
    publicJwk,
    x5c,
    location,
    sign: async (signingInput) => {
      const bytes = await source.sign(Buffer.from(signingInput));
      const signature = Buffer.from(bytes).toString("base64url");
      // Faulty hardware, or a module that signs with another key: the service would count it against this agent.
      if (checkAgentSignature({ publicKey, alg }, signingInput, signature) !== "good")
        throw new Error(`${location}: the signature does not verify with the key's own public half`);
      return signature;
    },
    close: async () => source.close?.(),
  };
}

/** The configured alg, or the default for the key's type. @throws InvalidKey when neither fits */
export function chooseAlg(publicKey: KeyObject, configured: string | undefined, location: string): AgentAlg {
  const alg = configured ?? defaultAgentAlg(publicKey);
  if (alg !== undefined && isAgentAlg(alg) && fitsAgentAlg({ publicKey, alg })) return alg;
  const problem =
    configured === undefined
      ? "unsupported key type; use P-256, P-384, Ed25519, ML-DSA or RSA of at least 2048 bits"
      : `not a key for ${configured}`;
  throw new InvalidKey(`${location}: ${problem}`);
}

function importPublicJwk(jwk: PublicKeyMembers, location: string): KeyObject {
  try {
    return createPublicKey({ key: jwk as webcrypto.JsonWebKey, format: "jwk" });
  } catch (error) {
    throw new InvalidKey(`${location}: invalid public key`, { cause: error });
  }
}
