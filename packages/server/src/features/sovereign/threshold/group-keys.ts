/** The group key a pool signs with now, and its members. */
import type { ThresholdGroup } from "@signet/protocol/threshold/group";
import { agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import type { PublishedAgentKey } from "../../../core/signing-pools/directory.ts";
import { signingPoolUrl } from "../../../core/signing-pools/signing-pool.ts";
import type { SigningDeps } from "../requests/signing-request.ts";
import { findCeremony, listMessages } from "./ceremony.store.ts";
import { outcomeOf } from "./ceremony.ts";

export interface GroupKey extends Omit<PublishedAgentKey, "pool"> {
  readonly group: ThresholdGroup;
  /** The kid of each member's identity key, by agent. */
  readonly agents: ReadonlyMap<string, string>;
}

/** What a ceremony came to never changes. */
type Known = ReturnType<typeof outcomeOf>;
const MAX_KNOWN = 1_000;

export type GroupKeys = ReturnType<typeof groupKeys>;

export interface GroupKeyDeps extends Pick<SigningDeps, "database" | "clock" | "pools"> {
  readonly baseUrl: string;
}

export function groupKeys({ database, clock, pools, baseUrl }: GroupKeyDeps) {
  const known = new Map<string, Known>();

  async function outcome(orgId: string, poolId: string, id: string): Promise<Known | undefined> {
    const cached = known.get(`${orgId} ${id}`);
    if (cached) return cached;
    const ceremony = await findCeremony(database.query, { orgId, poolId, id });
    if (ceremony?.state !== "complete") return undefined;
    const messages = await listMessages(database.query, orgId, id);
    const found = outcomeOf(ceremony, messages, signingPoolUrl(baseUrl, { orgId, id: poolId }));
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(`${orgId} ${id}`, found);
    return found;
  }

  return {
    /** @returns undefined before the first ceremony is complete */
    active: async (orgId: string, poolId: string): Promise<GroupKey | undefined> => {
      const now = clock();
      const published = (await pools.published(orgId)).filter(
        ({ key }) => key.poolId === poolId && key.ceremonyId !== null && agentKeyState(key, now) === "active",
      );
      const newest = published.at(-1);
      const made = newest && (await outcome(orgId, poolId, newest.key.ceremonyId ?? ""));
      if (!newest || made?.group.kid !== newest.key.kid) return undefined;
      return { key: newest.key, publicKey: newest.publicKey, group: made.group, agents: made.agents };
    },
  };
}
