/**
 * Where a signing key is. A file, a token behind PKCS#11 and a module for a cloud's key service all look like this
 * (sovereign-signing.md §9); whoever writes a module of their own implements `KeySource`, see docs/signing-agent.md.
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
   * The signature of these bytes as JWS wants it (RFC 7518 §3, RFC 8037 §3.1): for ECDSA r and s side by side, not DER.
   * May be called many times at once. Throws when the key cannot be used now.
   */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
  close?(): Promise<void>;
}

/** A source that was looked at, with the names that the service knows it by. */
export interface AgentKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  readonly alg: AgentAlg;
  readonly publicJwk: PublicKeyMembers;
  /** Base64 DER, leaf first, as in the token's header; undefined when the key has no certificate. */
  readonly x5c: readonly string[] | undefined;
  /** Where it is, for people. */
  readonly place: string;
  /** @returns base64url. @throws when the source gave what its own public key does not verify */
  sign(signingInput: string): Promise<string>;
  close(): Promise<void>;
}

export class InvalidKey extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "InvalidKey";
  }
}

/** @throws InvalidKey when the source's alg is none of ours or does not fit its key */
export function agentKey(source: KeySource, place: string, x5c?: readonly string[]): AgentKey {
  const publicKey = importPublicJwk(source.publicJwk, place);
  const { alg } = source;
  if (!isAgentAlg(alg) || !fitsAgentAlg({ publicKey, alg }))
    throw new InvalidKey(`${place}: the key is not one for ${alg}`);
  return {
    kid: jwkThumbprint(source.publicJwk),
    alg,
    publicJwk: source.publicJwk,
    x5c,
    place,
    sign: async (signingInput) => {
      const bytes = await source.sign(Buffer.from(signingInput));
      const signature = Buffer.from(bytes).toString("base64url");
      // A fault in the hardware, or a module that signs with another key: the service would count it against us.
      if (checkAgentSignature({ publicKey, alg }, signingInput, signature) !== "good")
        throw new Error(`${place}: the signature does not verify with the key's own public half`);
      return signature;
    },
    close: async () => source.close?.(),
  };
}

/** The alg that was asked for, else the one of the key's type. @throws InvalidKey when the key has none */
export function algOfKey(publicKey: KeyObject, wanted: string | undefined, place: string): AgentAlg {
  const alg = wanted ?? defaultAgentAlg(publicKey);
  if (alg !== undefined && isAgentAlg(alg) && fitsAgentAlg({ publicKey, alg })) return alg;
  const can = "P-256, P-384, Ed25519 and RSA of 2048 bits or more can";
  throw new InvalidKey(
    wanted === undefined
      ? `${place}: this kind of key cannot sign; ${can}`
      : `${place}: not a key for ${wanted}`,
  );
}

function importPublicJwk(jwk: PublicKeyMembers, place: string): KeyObject {
  try {
    return createPublicKey({ key: jwk as webcrypto.JsonWebKey, format: "jwk" });
  } catch (error) {
    throw new InvalidKey(`${place}: its public key cannot be read`, { cause: error });
  }
}
