/** The group key a pool signs with now, and its members. */
import type { ThresholdGroup } from "@signet/protocol/threshold/group";
import { agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import type { PublishedAgentKey } from "../../../core/signing-pools/directory.ts";
import { signingPoolUrl } from "../../../core/signing-pools/signing-pool.ts";
import type { SigningDeps } from "../requests/signing-request.ts";
import { findCeremony, listMessages } from "./ceremony.store.ts";
import { type CeremonyOutcome, outcomeOf } from "./outcome.ts";

export interface GroupKey extends Omit<PublishedAgentKey, "pool"> {
  readonly group: ThresholdGroup;
  /** The kid of each member's identity key, by agent. */
  readonly agents: ReadonlyMap<string, string>;
}

/** What a ceremony came to never changes. */
type Known = CeremonyOutcome;
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

  async function groupKey(
    { key, publicKey }: Omit<PublishedAgentKey, "pool">,
    ceremonyId: string | null,
  ): Promise<GroupKey | undefined> {
    const made = await outcome(key.orgId, key.poolId, ceremonyId ?? "");
    if (made?.group.kid !== key.kid) return undefined;
    return { key: { ...key, ceremonyId }, publicKey, group: made.group, agents: made.agents };
  }

  return {
    /** @returns undefined before the first ceremony is complete */
    active: async (orgId: string, poolId: string): Promise<GroupKey | undefined> => {
      const now = clock();
      const newest = (await pools.published(orgId)).findLast(
        ({ key }) => key.poolId === poolId && key.ceremonyId !== null && agentKeyState(key, now) === "active",
      );
      return newest && groupKey(newest, newest.key.ceremonyId);
    },
    /**
     * The key with the shares of one ceremony: a round goes on with those it was begun with, whatever this node has heard of since.
     * @param wanted.ceremonyId null for those that the key has now
     */
    of: async (
      orgId: string,
      wanted: { readonly poolId: string; readonly kid: string; readonly ceremonyId: string | null },
    ): Promise<GroupKey | undefined> => {
      const found = (await pools.published(orgId)).find(
        ({ key }) => key.poolId === wanted.poolId && key.kid === wanted.kid && key.ceremonyId !== null,
      );
      return found && groupKey(found, wanted.ceremonyId ?? found.key.ceremonyId);
    },
  };
}
