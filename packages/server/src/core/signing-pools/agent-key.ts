/** Signing agents and their public keys: states, JWKS entries, verification of tokens (sovereign-signing.md §2, §6 and §7). */
import { createPublicKey, hash, type KeyObject } from "node:crypto";
import {
  type AgentAlg,
  type AgentVerificationKey,
  checkAgentSignature,
} from "@signet/protocol/agent-signature";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import type { RecordOf } from "../../db/records.ts";
import type { AgentKeyTable, SigningAgentTable } from "../../db/tables/sovereign-signing.ts";

export type SigningAgent = RecordOf<Omit<SigningAgentTable, "api_key_hash">>;

/** An agent seen within this time is online. */
export const AGENT_SEEN_MS = 60_000;

export interface AgentKey extends RecordOf<Omit<AgentKeyTable, "public_jwk" | "alg" | "x5c">> {
  readonly publicJwk: PublicKeyMembers & { readonly kty: string };
  readonly alg: AgentAlg;
  /** Base64 DER, the leaf first; empty without certificates. */
  readonly x5c: readonly string[];
}

export type AgentKeyState = "published" | "active" | "retiring" | "retired" | "compromised";

/** A key stays in the JWKS this long after its last token has expired: clocks differ. */
export const RETIRED_AFTER_MS = 60_000;

/** A key's state follows from these and the current time: no write changes it. */
export type AgentKeyTimes = Pick<AgentKey, "activeFrom" | "retiringAt" | "lastTokenExp" | "compromisedAt">;

export function agentKeyState(key: AgentKeyTimes, now: number): AgentKeyState {
  if (key.compromisedAt !== null) return "compromised";
  if (key.retiringAt !== null && key.retiringAt <= now)
    return retirementEnd(key, key.retiringAt) > now ? "retiring" : "retired";
  return key.activeFrom <= now ? "active" : "published";
}

/** Whether the key is in the JWKS, and its tokens are valid. */
export const isPublished = (key: AgentKeyTimes, now: number): boolean =>
  ["published", "active", "retiring"].includes(agentKeyState(key, now));

/** When the key's state changes next; infinite when it doesn't. */
export function nextStateChange(key: AgentKeyTimes, now: number): number {
  const { activeFrom, retiringAt } = key;
  const times = retiringAt === null ? [activeFrom] : [activeFrom, retiringAt, retirementEnd(key, retiringAt)];
  return Math.min(...times.filter((at) => at > now));
}

const retirementEnd = ({ lastTokenExp }: AgentKeyTimes, retiringAt: number): number =>
  Math.max(retiringAt, lastTokenExp ?? 0) + RETIRED_AFTER_MS;

export const publicKeyOf = ({ publicJwk }: Pick<AgentKey, "publicJwk">): KeyObject =>
  createPublicKey({ key: publicJwk, format: "jwk" });

export interface PublishedAgentJwk extends Readonly<Record<string, unknown>> {
  readonly kid: string;
  readonly use: "sig";
}

/** The key as the JWKS shows it (RFC 7517 §4): public members only. */
export function publishedJwk({ publicJwk, kid, alg, x5c }: AgentKey): PublishedAgentJwk {
  const [leaf] = x5c;
  return {
    ...publicJwk,
    kid,
    use: "sig",
    alg,
    ...(leaf === undefined
      ? {}
      : { x5c, "x5t#S256": hash("sha256", Buffer.from(leaf, "base64"), "base64url") }),
  };
}

/** Header members of a pool's tokens (sovereign-signing.md §6). */
const HEADER_MEMBERS = ["alg", "kid", "typ", "x5c"];

/** @returns the claims if the signature is valid. The key decides the algorithm, never the token (RFC 8725 §3.1). */
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
