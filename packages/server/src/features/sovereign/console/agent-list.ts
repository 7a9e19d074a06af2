/** The agents of a pool as a list that is kept up to date, in a tab of the pool's page. */
import { listPoolKeys } from "../../../core/signing-pools/agent-key.store.ts";
import {
  type AgentKey,
  type AgentKeyState,
  agentKeyState,
  type SigningAgent,
} from "../../../core/signing-pools/agent-key.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell } from "../../../html/components/table.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { Confirmation } from "../../../page-kit/confirmation.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { Filter, List, ListColumn, ListExport, ListSort } from "../../../page-kit/list/list.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { agentEnding } from "./agent.route.ts";
import { type AgentSort, countAgents, searchAgents } from "./agent-list.store.ts";
import { AGENTS, agentPath, findAgentAt, type PoolAgent, poolPath } from "./pool-path.ts";
import { type AgentStatus, agentStatus, agentStatuses } from "./pool-state.ts";
import { agentState, keyState } from "./pools.page.ts";

type ListedKey = AgentKey & { readonly state: AgentKeyState };

export type AgentRow = SigningAgent & {
  readonly nameOrder: string;
  readonly status: AgentStatus;
  /** Without retired ones. */
  readonly keys: readonly ListedKey[];
};

type AgentChoices = { state: AgentStatus };

export type ListedPool = Pick<SigningPool, "id" | "disabledAt">;

const nameOf = ({ name }: { readonly name: string }): string => name;
const nameOfFound = ({ agent }: PoolAgent): string => agent.name;

const filters: List<ConsoleDeps, AgentRow, AgentSort, AgentChoices>["filters"] = {
  state: {
    label: ({ console: { pools } }) => pools.state,
    any: ({ console: { pools } }) => pools.anyState,
    choices: agentStatuses,
    names: ({ console: { pools } }) => pools.agentStatus,
  },
};

const sorts: Readonly<Record<AgentSort, ListSort<AgentRow>>> = {
  atWork: {
    isNumber: true,
    isDescending: false,
    value: ({ deactivatedAt }) => (deactivatedAt === null ? 0 : 1),
  },
  name: { isNumber: false, isDescending: false, value: ({ nameOrder }) => nameOrder },
  seen: { isNumber: true, isDescending: true, value: ({ lastSeenAt }) => lastSeenAt ?? 0 },
};

const columns: ReadonlyArray<ListColumn<AgentRow, AgentSort, AgentChoices>> = [
  {
    label: ({ console: { pools } }) => pools.agent,
    sort: "name",
    cell: (agent, { organisation }) => nameCell({ name: agent.name, uri: agentPath(organisation, agent) }),
  },
  {
    label: ({ console: { pools } }) => pools.state,
    sort: "atWork",
    cell: ({ status }, { messages }) => agentState(status, messages),
  },
  {
    label: ({ console: { pools } }) => pools.lastSeen,
    sort: "seen",
    cell: ({ lastSeenAt }, { messages: { console, format } }) =>
      lastSeenAt === null ? console.frame.never : relativeTime(lastSeenAt, format.second),
  },
  {
    label: ({ console: { pools } }) => pools.keys,
    cell: ({ keys }, { messages }) => keysCell(keys, messages),
  },
];

const file: ListExport<AgentRow> = {
  name: "signing-agents",
  columns: {
    id: ({ id }) => id,
    name: nameOf,
    status: ({ status }) => status,
    lastSeenAt: ({ lastSeenAt }) => (lastSeenAt === null ? null : new Date(lastSeenAt)),
    registeredAt: ({ createdAt }) => new Date(createdAt),
    deactivatedAt: ({ deactivatedAt }) => (deactivatedAt === null ? null : new Date(deactivatedAt)),
    compromisedAt: ({ compromisedAt }) => (compromisedAt === null ? null : new Date(compromisedAt)),
    keys: ({ keys }) => keys.map(({ kid }) => kid).join(" "),
    algorithms: ({ keys }) => [...new Set(keys.map(({ alg }) => alg))].join(" "),
  },
};

const actsWithin = (pool: ListedPool) => ({
  deactivate: bulkAct(
    ({ console }) => console.pools.agentBulk.deactivate,
    within(pool, agentEnding("deactivate")),
    nameOfFound,
    { isRemoval: true },
  ),
  compromise: bulkAct(
    ({ console }) => console.pools.agentBulk.compromise,
    within(pool, agentEnding("compromise")),
    nameOfFound,
    { isPermanent: true },
  ),
});

export const agentList = (pool: ListedPool) =>
  ({
    current: "pools",
    noun: "agent",
    keeps: ["range"],
    uri: (organisation, rest = "") => poolPath(organisation, pool, `${AGENTS}${rest}`),
    texts: ({ console: { pools } }) => ({
      title: pools.agents,
      search: pools.search,
      none: pools.noAgents,
      noneText: pools.noAgentsText,
    }),
    filters,
    sorts,
    rows: async ({ deps: { database, clock }, organisation }, { filter, page, limit }) => {
      const now = clock();
      const wanted = { ...toFilter(pool, filter, now), page, limit };
      const found = await searchAgents(database.query, organisation.id, wanted);
      const keys = (await listPoolKeys(database.query, organisation.id, pool.id))
        .map((key) => ({ ...key, state: agentKeyState(key, now) }))
        .filter(({ state }) => state !== "retired");
      return found.map((agent) => ({
        ...agent,
        status: agentStatus(agent, now),
        keys: keys.filter(({ agentId }) => agentId === agent.id),
      }));
    },
    count: ({ deps: { database, clock }, organisation }, filter, max) =>
      countAgents(database.query, organisation.id, { ...toFilter(pool, filter, clock()), max }),
    live: {
      says: ({ name, status }, { console: { pools } }) => `${name}: ${pools.agentStatus[status]}.`,
    },
    columns,
    nameOf,
    isSelectable: ({ compromisedAt }) => compromisedAt === null,
    acts: actsWithin(pool),
    findName: async (deps, organisation, id) =>
      (await findAgentAt(deps, organisation, { pool: pool.id, agent: id }))?.agent.name,
    export: file,
    // A disabled pool takes no agents.
    ...(pool.disabledAt === null && {
      create: ({ consoleUri, messages: { console } }) =>
        buttonLink({
          id: "agent-new",
          uri: consoleUri(`/pools/${pool.id}/agents/new`),
          label: console.pools.addAgent,
          kind: "primary",
        }),
    }),
  }) satisfies List<ConsoleDeps, AgentRow, AgentSort, AgentChoices>;

const toFilter = ({ id: poolId }: ListedPool, { search, state }: Filter<AgentChoices>, now: number) => ({
  ...{ poolId, now, status: state },
  text: search === "" ? undefined : search,
});

/** An act names the agent by `id`. */
const within = (
  { id: pool }: ListedPool,
  confirmation: Confirmation<ConsoleDeps, PoolAgent>,
): typeof confirmation => ({
  ...confirmation,
  load: (deps, organisation, { id = "" }) => findAgentAt(deps, organisation, { pool, agent: id }),
});

function keysCell(keys: readonly ListedKey[], messages: Messages) {
  const { pools: text } = messages.console;
  if (keys.length === 0) return html`<span class="quiet">${text.noKeys}</span>`;
  return html`<ul class="key-list">${keys.map(
    ({ kid, alg, state, x5c }) =>
      html`<li><code title="${kid}">${kid.slice(0, 12)}…</code> <bdi>${alg}</bdi> ${keyState(state, messages)}${
        x5c.length > 0 && html` <span class="quiet">${text.withCertificate}</span>`
      }</li>`,
  )}</ul>`;
}
