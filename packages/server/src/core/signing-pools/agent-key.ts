/** Agents and their public keys, and the times that decide what a key does (sovereign-signing.md §2 and §7). */
import { createPublicKey, type KeyObject } from "node:crypto";
import type { AgentAlg } from "@signet/protocol/agent-signature";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";

export interface SigningAgent {
  readonly orgId: string;
  readonly id: string;
  readonly poolId: string;
  readonly name: string;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly lastSeenAt: number | null;
  readonly deactivatedAt: number | null;
  readonly compromisedAt: number | null;
}

/** An agent that was seen within this time is there. */
export const AGENT_SEEN_MS = 60_000;

export interface AgentKey {
  readonly orgId: string;
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  readonly poolId: string;
  readonly agentId: string;
  readonly publicJwk: PublicKeyMembers & { readonly kty: string };
  readonly alg: AgentAlg;
  /** Base64 DER, the leaf first; empty without certificates. */
  readonly x5c: readonly string[];
  readonly createdAt: number;
  readonly activeFrom: number;
  /** From then on it signs nothing new; null as long as it has no successor and its agent works. */
  readonly retiringAt: number | null;
  /** Milliseconds: the latest expiry of what it signed. */
  readonly lastTokenExp: number | null;
  readonly compromisedAt: number | null;
}

export type AgentKeyState = "published" | "active" | "retiring" | "retired" | "compromised";

/** A key stays in the JWKS this long after the last of its tokens: clocks of readers differ. */
export const RETIRED_AFTER_MS = 60_000;

/** What decides a key's state; it changes with the time alone, without a write. */
export type AgentKeyTimes = Pick<AgentKey, "activeFrom" | "retiringAt" | "lastTokenExp" | "compromisedAt">;

export function agentKeyState(key: AgentKeyTimes, now: number): AgentKeyState {
  if (key.compromisedAt !== null) return "compromised";
  if (key.retiringAt !== null && key.retiringAt <= now)
    return retiredFrom(key, key.retiringAt) > now ? "retiring" : "retired";
  return key.activeFrom <= now ? "active" : "published";
}

/** Whether the JWKS shows it, and its tokens count. */
export const isPublished = (key: AgentKeyTimes, now: number): boolean =>
  ["published", "active", "retiring"].includes(agentKeyState(key, now));

/** When the key's state next changes by itself; infinite when it does not. */
export function nextChangeOf(key: AgentKeyTimes, now: number): number {
  const { activeFrom, retiringAt } = key;
  const times = retiringAt === null ? [activeFrom] : [activeFrom, retiringAt, retiredFrom(key, retiringAt)];
  return Math.min(...times.filter((at) => at > now));
}

const retiredFrom = ({ lastTokenExp }: AgentKeyTimes, retiringAt: number): number =>
  Math.max(retiringAt, lastTokenExp ?? 0) + RETIRED_AFTER_MS;

/** For checking a signature. */
export const publicKeyOf = ({ publicJwk }: Pick<AgentKey, "publicJwk">): KeyObject =>
  createPublicKey({ key: publicJwk, format: "jwk" });
