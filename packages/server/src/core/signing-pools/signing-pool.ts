/**
 * A signing pool: a group of agents that hold the private keys for an organisation's tokens (sovereign-signing.md §1 and
 * §2). The service knows public keys only.
 */
import type { AgentAlg } from "@signet/protocol/agent-signature";
import type { Threshold } from "@signet/protocol/threshold/group";
import type { RecordOf } from "../../db/records.ts";
import type { SigningPoolTable } from "../../db/tables/sovereign-signing.ts";
import { issuerOf } from "../organisations/organisation.ts";

export const issuerModes = ["pool", "organisation"] as const;
export type IssuerMode = (typeof issuerModes)[number];

type StoredPool = RecordOf<
  Omit<SigningPoolTable, "issuer_mode" | "algs" | "trusted_roots" | "require_x5c" | "threshold">
>;

export interface SigningPool extends StoredPool {
  readonly issuerMode: IssuerMode;
  /** The algorithms of its keys; at least one. */
  readonly algs: readonly AgentAlg[];
  /** PEM: the roots of its keys' certificates. */
  readonly trustedRoots: readonly string[];
  readonly requireX5c: boolean;
  /** Null for a pool of whole keys. Never changes. */
  readonly threshold: Threshold | null;
}

/** The base URL of the pool's discovery document and JWKS, whatever its issuer. */
export const signingPoolUrl = (baseUrl: string, { orgId, id }: Pick<SigningPool, "orgId" | "id">): string =>
  `${issuerOf(baseUrl, orgId)}/sovereign/pools/${id}`;

/** The `iss` (also of RFC 9207) and default `aud` of the pool's tokens. */
export const signingPoolIssuer = (
  baseUrl: string,
  pool: Pick<SigningPool, "orgId" | "id" | "issuerMode">,
): string => (pool.issuerMode === "pool" ? signingPoolUrl(baseUrl, pool) : issuerOf(baseUrl, pool.orgId));

export const signingPoolJwksUri = (baseUrl: string, pool: Pick<SigningPool, "orgId" | "id">): string =>
  `${signingPoolUrl(baseUrl, pool)}/jwks.json`;
