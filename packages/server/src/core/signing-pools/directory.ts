/** A cache of each organisation's pools and their agents' public keys, for the hot path. */
import type { KeyObject } from "node:crypto";
import type { Application } from "../applications/application.ts";
import { changeTrackingCache } from "../cache/record-cache.ts";
import { issuerOf } from "../organisations/organisation.ts";
import type { RecordDeps } from "../record-changes.ts";
import { listUncompromisedKeys } from "./agent-key.store.ts";
import { type AgentKey, isPublished, publicKeyOf } from "./agent-key.ts";
import { listAllPools } from "./signing-pool.store.ts";
import { type SigningPool, signingPoolIssuer } from "./signing-pool.ts";

/** A key of the JWKS, ready to verify signatures. */
export interface PublishedAgentKey {
  readonly key: AgentKey;
  readonly pool: SigningPool;
  readonly publicKey: KeyObject;
}

export interface SigningPoolDirectory {
  /** Also finds disabled pools; undefined for another organisation's. */
  find(orgId: string, poolId: string): Promise<SigningPool | undefined>;
  /** All published keys of the organisation's pools, whatever their issuer mode, oldest first. */
  published(orgId: string): Promise<readonly PublishedAgentKey[]>;
}

interface OrganisationPools {
  readonly pools: ReadonlyMap<string, SigningPool>;
  readonly keys: readonly PublishedAgentKey[];
}

export function signingPoolDirectory(deps: RecordDeps): SigningPoolDirectory {
  const { database, clock } = deps;
  const cache = changeTrackingCache<OrganisationPools>(deps, "signing-pool", {
    capacity: 5_000,
    load: async (orgId) => {
      const pools = new Map((await listAllPools(database.query, orgId)).map((pool) => [pool.id, pool]));
      if (pools.size === 0) return { pools, keys: [] };
      const keys = (await listUncompromisedKeys(database.query, orgId)).flatMap((key) => {
        const pool = pools.get(key.poolId);
        return pool ? [{ key, pool, publicKey: publicKeyOf(key) }] : [];
      });
      return { pools, keys };
    },
  });
  const poolsOf = async (orgId: string) => cache.peek(orgId, "") ?? (await cache.get(orgId, ""));
  return {
    find: async (orgId, poolId) => (await poolsOf(orgId))?.pools.get(poolId.toLowerCase()),
    published: async (orgId) =>
      (await poolsOf(orgId))?.keys.filter(({ key }) => isPublished(key, clock())) ?? [],
  };
}

export interface ApplicationIssuerDeps {
  readonly baseUrl: string;
  readonly signingPools: Pick<SigningPoolDirectory, "find">;
}

/** The issuer of the application's tokens: its pool's, or the organisation's. */
export async function applicationIssuer(
  { baseUrl, signingPools }: ApplicationIssuerDeps,
  { orgId, settings: { signingPoolId } }: Pick<Application, "orgId" | "settings">,
): Promise<string> {
  const pool = signingPoolId === undefined ? undefined : await signingPools.find(orgId, signingPoolId);
  return pool ? signingPoolIssuer(baseUrl, pool) : issuerOf(baseUrl, orgId);
}
