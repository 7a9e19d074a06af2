/**
 * The key an agent may sign with now, as this node knows it. The node may be a moment behind: a key that is new elsewhere
 * is looked up in the database, and the statement that stores a signature checks its key again.
 */
import type { CoreDeps } from "../core-deps.ts";
import { listActiveAgentKeys } from "./agent-key.store.ts";
import { type AgentKey, agentKeyState, publicKeyOf } from "./agent-key.ts";
import type { PublishedAgentKey, SigningPoolDirectory } from "./directory.ts";

export type UsableKey = Pick<PublishedAgentKey, "key" | "publicKey">;

export interface UsableKeyDeps extends CoreDeps {
  readonly pools: Pick<SigningPoolDirectory, "published">;
}

interface Wanted {
  /** Preferred first. */
  readonly kids: readonly string[];
  /** What the pool accepts now. */
  readonly algs: readonly AgentKey["alg"][];
}

/** The first of `kids` that is the agent's own, active, and of an accepted algorithm. */
export async function findUsableKey(
  { database, clock, pools }: UsableKeyDeps,
  { orgId, agentId }: { readonly orgId: string; readonly agentId: string },
  { kids, algs }: Wanted,
): Promise<UsableKey | undefined> {
  const now = clock();
  const known = (await pools.published(orgId)).filter(
    ({ key }) => key.agentId === agentId && key.ceremonyId === null && agentKeyState(key, now) === "active",
  );
  for (const kid of kids) {
    const match = known.find(({ key }) => key.kid === kid && algs.includes(key.alg));
    if (match) return match;
  }
  const active = await listActiveAgentKeys(database.query, { orgId, agentId, now });
  for (const kid of kids) {
    const key = active.find((one) => one.kid === kid && algs.includes(one.alg));
    if (key) return { key, publicKey: publicKeyOf(key) };
  }
  return undefined;
}
