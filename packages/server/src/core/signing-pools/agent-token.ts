/** A token that an agent signed, read back. */
import { type AgentVerificationKey, checkAgentSignature } from "@signet/protocol/agent-signature";
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";

/** Header members that a pool's tokens have (sovereign-signing.md §6). */
const HEADER_MEMBERS = ["alg", "kid", "typ", "x5c"];

/** The claims, when the signature holds; the key decides the algorithm, never the token (RFC 8725 §3.1). */
export function verifyAgentToken(
  token: string,
  key: AgentVerificationKey,
  typ: "at+jwt" | "JWT" = "at+jwt",
): Record<string, unknown> | undefined {
  const decoded = decodeJwsUnverified(token);
  if (!decoded) return undefined;
  const { header, payload } = decoded;
  if (header["typ"] !== typ || header["alg"] !== key.alg) return undefined;
  if (Object.keys(header).some((member) => !HEADER_MEMBERS.includes(member))) return undefined;
  const end = token.lastIndexOf(".");
  const outcome = checkAgentSignature(key, token.slice(0, end), token.slice(end + 1));
  return outcome === "good" ? payload : undefined;
}
