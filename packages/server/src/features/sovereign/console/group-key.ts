/** The key of a threshold pool: who has shares of it, and how far its newest ceremony is (threshold-and-ledger.md §1). */
import { listPoolKeys } from "../../../core/signing-pools/agent-key.store.ts";
import { type AgentKeyState, agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import {
  type CeremonyRow,
  listCeremonies,
  listMessages,
  type MessageRow,
} from "../threshold/ceremony.store.ts";
import { membersOf } from "../threshold/reshare.ts";
import { listAgentNames } from "./console.store.ts";

export interface NamedAgent {
  readonly id: string;
  readonly name: string;
}

/** `undefined`: not yet; `null`: not asked for. */
type Said = number | undefined | null;

export interface CeremonyProgress {
  readonly kind: "create" | "reshare";
  readonly state: "joining" | "sharing" | "confirming" | "complete" | "aborted";
  readonly begunAt: number;
  readonly endedAt: number | null;
  readonly endReason: string | null;
  readonly agents: ReadonlyArray<
    NamedAgent & { readonly joined: Said; readonly dealt: Said; readonly confirmed: Said }
  >;
}

export interface GroupKeyView {
  readonly key: { readonly kid: string; readonly state: AgentKeyState } | undefined;
  /** Agents that have a share of it. */
  readonly holders: readonly NamedAgent[];
  readonly ceremony: CeremonyProgress | undefined;
}

/** Undefined for a pool whose agents have whole keys. */
export async function loadGroupKey(
  { database, clock }: Pick<ConsoleDeps, "database" | "clock">,
  { orgId, id: poolId, threshold }: SigningPool,
): Promise<GroupKeyView | undefined> {
  if (threshold === null) return undefined;
  const { query } = database;
  const now = clock();
  const keys = (await listPoolKeys(query, orgId, poolId)).filter(({ ceremonyId }) => ceremonyId !== null);
  const key = keys.findLast((one) => agentKeyState(one, now) === "active") ?? keys.at(-1);
  const names = new Map((await listAgentNames(query, orgId, poolId)).map(({ id, name }) => [id, name]));
  const named = (id: string): NamedAgent => ({ id, name: names.get(id) ?? id });
  const shared = key ? await listMessages(query, orgId, key.ceremonyId ?? "") : [];
  const [newest] = await listCeremonies(query, { orgId, poolId, limit: 1 });
  const messages = newest ? await listMessages(query, orgId, newest.id) : [];
  const holders = agentsOf(shared, "join").map(named);
  return {
    key: key && { kid: key.kid, state: agentKeyState(key, now) },
    holders,
    ceremony: newest && progressOf(newest, messages, { named, holders }),
  };
}

const agentsOf = (messages: readonly MessageRow[], round: string): string[] =>
  messages.filter((one) => one.round === round).map(({ agent_id }) => agent_id);

interface Known {
  named(id: string): NamedAgent;
  readonly holders: readonly NamedAgent[];
}

function progressOf(
  row: CeremonyRow,
  messages: readonly MessageRow[],
  { named, holders }: Known,
): CeremonyProgress {
  const isReshare = row.kind === "reshare";
  const isOpen = row.ended_at === null;
  const at = (id: string, round: string) =>
    messages.find((one) => one.agent_id === id && one.round === round)?.created_at;
  const members = isReshare ? membersOf(row) : agentsOf(messages, "join");
  const dealers = agentsOf(messages, "deal");
  // Any of those that have a share may deal, until enough have.
  const asked = isOpen && dealers.length < row.min_signers ? holders.map(({ id }) => id) : dealers;
  const ids = [...new Set([...members, ...(isReshare ? asked : []), ...dealers])];
  return {
    kind: isReshare ? "reshare" : "create",
    state: row.state as CeremonyProgress["state"],
    ...{ begunAt: row.created_at, endedAt: row.ended_at, endReason: row.end_reason },
    agents: ids.map((id) => ({
      ...named(id),
      joined: members.includes(id) ? at(id, "join") : null,
      dealt: isReshare ? (at(id, "deal") ?? (asked.includes(id) ? undefined : null)) : at(id, "shares"),
      confirmed: members.includes(id) ? at(id, "confirmation") : null,
    })),
  };
}
