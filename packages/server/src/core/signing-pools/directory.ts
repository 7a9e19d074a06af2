/** An organisation's pools and the public keys of their agents, on the hot path: kept in memory, and told of changes. */
import type { KeyObject } from "node:crypto";
import type { ChangeFeed } from "../../db/change-feed.ts";
import type { Database } from "../../db/open.ts";
import { recordCache } from "../cache/record-cache.ts";
import type { Clock } from "../clock.ts";
import { type AgentKey, isPublished, publicKeyOf } from "./agent-key.ts";
import type { SigningPool } from "./signing-pool.ts";
import { listAllPools, listLivingKeys } from "./signing-pools.store.ts";

/** A key that the JWKS shows, ready for checking signatures. */
export interface PublishedAgentKey {
  readonly key: AgentKey;
  readonly pool: SigningPool;
  readonly publicKey: KeyObject;
}

export interface SigningPoolDirectory {
  /** Disabled or not; undefined for another organisation's. */
  find(orgId: string, poolId: string): Promise<SigningPool | undefined>;
  /** All that the organisation's pools publish now, whatever their issuer mode, oldest first. */
  published(orgId: string): Promise<readonly PublishedAgentKey[]>;
}

export interface SigningPoolDirectoryDeps {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

interface OrganisationPools {
  readonly pools: ReadonlyMap<string, SigningPool>;
  readonly keys: readonly PublishedAgentKey[];
}

export function signingPoolDirectory(
  deps: SigningPoolDirectoryDeps & { capacity?: number },
): SigningPoolDirectory {
  const { database, clock } = deps;
  const cache = recordCache<OrganisationPools>({
    capacity: deps.capacity ?? 5_000,
    maxAgeMs: 30_000,
    clock,
    load: async (orgId) => {
      const pools = new Map((await listAllPools(database.query, orgId)).map((pool) => [pool.id, pool]));
      if (pools.size === 0) return { pools, keys: [] };
      const keys = (await listLivingKeys(database.query, orgId)).flatMap((key) => {
        const pool = pools.get(key.poolId);
        return pool ? [{ key, pool, publicKey: publicKeyOf(key) }] : [];
      });
      return { pools, keys };
    },
  });
  deps.changes.subscribe((change) => {
    if (change === "everything") cache.clear();
    else if (change.topic === "signing-pool") cache.evictOrganisation(change.orgId);
  });
  const poolsOf = async (orgId: string) => cache.peek(orgId, "") ?? (await cache.get(orgId, ""));
  return {
    find: async (orgId, poolId) => (await poolsOf(orgId))?.pools.get(poolId.toLowerCase()),
    published: async (orgId) =>
      (await poolsOf(orgId))?.keys.filter(({ key }) => isPublished(key, clock())) ?? [],
  };
}
