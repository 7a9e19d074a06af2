/** Proof of possession of a registered key: a JWS by the key over the pool, the key and the time (sovereign-signing.md §5). */
import { type AgentVerificationKey, checkAgentSignature } from "@signet/protocol/agent-signature";
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";

export const PROOF_TYPE = "sovereign-pop+jwt";
export const PROOF_MAX_AGE_SECONDS = 300;
/** How far the agent's clock may be ahead. */
const PROOF_SKEW_SECONDS = 60;

export interface ExpectedProof extends AgentVerificationKey {
  /** The pool's address. */
  readonly audience: string;
  /** RFC 7638. */
  readonly thumbprint: string;
  /** Seconds. */
  readonly now: number;
}

/** @returns what is wrong with the proof, for the error description; undefined when it is valid */
export function proofFault(proof: string, expected: ExpectedProof): string | undefined {
  const decoded = decodeJwsUnverified(proof);
  if (!decoded) return "is not a compact JWS";
  const { header, payload } = decoded;
  if (Object.keys(header).sort().join() !== "alg,typ") return "must have only the header members alg and typ";
  if (header["typ"] !== PROOF_TYPE) return `must have the typ ${PROOF_TYPE}`;
  if (header["alg"] !== expected.alg) return `must have the alg of the key, ${expected.alg}`;
  const [head = "", body = "", signature = ""] = proof.split(".");
  const outcome = checkAgentSignature(expected, `${head}.${body}`, signature);
  if (outcome !== "good") return "is not signed by the key";
  if (payload["aud"] !== expected.audience) return `must have the aud ${expected.audience}`;
  if (payload["jkt"] !== expected.thumbprint) return `must have the jkt ${expected.thumbprint}`;
  const { iat } = payload;
  if (typeof iat !== "number" || !Number.isInteger(iat)) return "must have an iat in whole seconds";
  if (iat < expected.now - PROOF_MAX_AGE_SECONDS) return `is older than ${PROOF_MAX_AGE_SECONDS} seconds`;
  return iat > expected.now + PROOF_SKEW_SECONDS ? "has an iat in the future" : undefined;
}
