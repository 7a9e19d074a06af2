/**
 * The keys that an agent may sign with now, as this node knows them. It may be a moment behind: the statement that takes a
 * signature asks the database (requests/lease.store.ts), and a key that is new elsewhere is looked up here.
 */
import { type AgentKey, agentKeyState, publicKeyOf } from "../../../../core/signing-pools/agent-key.ts";
import type { PublishedAgentKey } from "../../../../core/signing-pools/directory.ts";
import { activeKeysOfAgent } from "../../../../core/signing-pools/signing-pools.store.ts";
import type { AgentCaller } from "../../agent-api/request-messages.ts";
import type { RequestDeps } from "../request-deps.ts";

export type UsableKey = Pick<PublishedAgentKey, "key" | "publicKey">;

interface Wanted {
  /** In the order in which the agent would rather use them. */
  readonly kids: readonly string[];
  /** What the pool takes now. */
  readonly algs: readonly AgentKey["alg"][];
}

/** The first that the agent names and may use now: its own, active, and of an algorithm that the pool wants. */
export async function usableKey(
  deps: RequestDeps,
  { orgId, agentId }: AgentCaller,
  { kids, algs }: Wanted,
): Promise<UsableKey | undefined> {
  const now = deps.clock();
  const known = (await deps.pools.published(orgId)).filter(
    ({ key }) => key.agentId === agentId && agentKeyState(key, now) === "active",
  );
  const chosen = firstOf(known, kids, algs);
  if (chosen) return chosen;
  const active = await activeKeysOfAgent(deps.database.query, { orgId, agentId, now });
  const found = firstOf(
    active.map((key) => ({ key })),
    kids,
    algs,
  );
  return found && { ...found, publicKey: publicKeyOf(found.key) };
}

function firstOf<K extends { readonly key: AgentKey }>(
  keys: readonly K[],
  kids: readonly string[],
  algs: Wanted["algs"],
): K | undefined {
  for (const kid of kids) {
    const found = keys.find(({ key }) => key.kid === kid && algs.includes(key.alg));
    if (found) return found;
  }
  return undefined;
}
