/**
 * A signing pool: a named group of agents that hold the keys which sign an organisation's tokens (sovereign-signing.md
 * §1 and §2). The service knows public keys only.
 */
import type { AgentAlg } from "@signet/protocol/agent-signature";
import { issuerOf } from "../organisations/organisation.ts";

export const issuerModes = ["pool", "organisation"] as const;
export type IssuerMode = (typeof issuerModes)[number];

export interface SigningPool {
  readonly orgId: string;
  readonly id: string;
  readonly name: string;
  readonly issuerMode: IssuerMode;
  /** What its keys may sign with; at least one. */
  readonly algs: readonly AgentAlg[];
  readonly maxTokenLifetimeSeconds: number;
  /** How long the token endpoint waits for an agent. */
  readonly tokenWaitSeconds: number;
  /** How long a new key is published before it signs. */
  readonly keyPublishDelaySeconds: number;
  /** Requests that may be open at once. */
  readonly maxPending: number;
  /** PEM; what the certificates of its keys must chain to. */
  readonly trustedRoots: readonly string[];
  readonly requireX5c: boolean;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly updatedAt: number;
  readonly disabledAt: number | null;
  readonly version: number;
}

/** The address that the pool's documents stand under, whatever its tokens say. */
export const poolAddress = (baseUrl: string, { orgId, id }: Pick<SigningPool, "orgId" | "id">): string =>
  `${issuerOf(baseUrl, orgId)}/sovereign/pools/${id}`;

/** The `iss` of what the pool signs, and the RFC 9207 `iss` and default `aud` beside it. */
export const issuerOfPool = (
  baseUrl: string,
  pool: Pick<SigningPool, "orgId" | "id" | "issuerMode">,
): string => (pool.issuerMode === "pool" ? poolAddress(baseUrl, pool) : issuerOf(baseUrl, pool.orgId));

export const jwksUriOfPool = (baseUrl: string, pool: Pick<SigningPool, "orgId" | "id">): string =>
  `${poolAddress(baseUrl, pool)}/jwks.json`;
