/** Signing pools as a list that is kept up to date; an organisation has few. */
import { listAllPools } from "../../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { nameCell } from "../../../html/components/table.ts";
import { html } from "../../../html/html.ts";
import type { Confirmation } from "../../../page-kit/confirmation.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { List, ListSort } from "../../../page-kit/list/list.ts";
import { memoryList, mentions } from "../../../page-kit/list/memory-list.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { statusChange } from "./pool.route.ts";
import { findPoolAt } from "./pool-path.ts";
import { loadsOf, type PoolLoad, type PoolStatus } from "./pool-state.ts";
import { poolState } from "./pools.page.ts";

type PoolRow = SigningPool & PoolLoad;
type PoolSort = "created" | "name" | "waiting" | "signed";

const statuses = ["working", "short", "away", "empty", "disabled"] as const satisfies readonly PoolStatus[];

type PoolChoices = { state: PoolStatus };

const sorts: Readonly<Record<PoolSort, ListSort<PoolRow>>> = {
  // Ids rise with the time of creation.
  created: { isNumber: false, isDescending: false, value: ({ id }) => id },
  name: { isNumber: false, isDescending: false, value: ({ name }) => name.toLowerCase() },
  waiting: { isNumber: true, isDescending: true, value: ({ waiting }) => waiting },
  signed: { isNumber: true, isDescending: true, value: ({ signed }) => signed },
};

const nameOf = ({ name }: { readonly name: string }): string => name;

/** An act names the record by `id`. */
const byId = (confirmation: Confirmation<ConsoleDeps, SigningPool>): typeof confirmation => ({
  ...confirmation,
  load: (deps, organisation, { id = "" }) => findPoolAt(deps, organisation, { pool: id }),
});

export const poolList = {
  current: "pools",
  noun: "pool",
  savedAs: "pools",
  uri: (organisation, rest = "") => consolePath(organisation, `/pools${rest}`),
  texts: ({ console: { frame, pools } }) => ({
    title: frame.pages.pools,
    summary: pools.summary,
    search: pools.search,
    none: pools.none,
    noneText: pools.noneText,
  }),
  filters: {
    state: {
      label: ({ console: { pools } }) => pools.state,
      any: ({ console: { pools } }) => pools.anyState,
      choices: statuses,
      names: ({ console: { pools } }) => pools.poolStatus,
    },
  },
  sorts,
  ...memoryList<ConsoleDeps, PoolRow, PoolSort, PoolChoices>({
    sorts,
    load: async ({ deps: { database, clock }, organisation }) => {
      const pools = await listAllPools(database.query, organisation.id);
      return pools.map(await loadsOf(database.query, organisation.id, pools, clock()));
    },
    matches: ({ id, name, status }, { search, state }) =>
      mentions(search, [id, name]) && (state === undefined || status === state),
  }),
  live: {
    says: ({ name, status }, { console: { pools } }) => `${name}: ${pools.poolStatus[status]}.`,
  },
  columns: [
    {
      label: ({ console: { pools } }) => pools.name,
      sort: "name",
      cell: ({ id, name, algs }, { consoleUri }) =>
        nameCell({ name, uri: consoleUri(`/pools/${id}`), note: algs.join(", ") }),
    },
    {
      label: ({ console: { pools } }) => pools.state,
      cell: ({ status }, { messages }) => poolState(status, messages),
    },
    {
      label: ({ console: { pools } }) => pools.agents,
      cell: ({ agents, live }, { messages: { console } }) =>
        console.pools.liveOf({ count: live, max: agents }),
    },
    {
      label: ({ console: { pools } }) => pools.waiting,
      sort: "waiting",
      cell: ({ waiting }, { messages: { format } }) => format.number(waiting),
    },
    {
      label: ({ console: { pools } }) => pools.signatures,
      sort: "signed",
      cell: ({ signed, failed }, { messages: { console, format } }) => [
        format.number(signed),
        failed > 0 &&
          html` <span class="failed-count">${console.pools.failedCount({ count: failed })}</span>`,
      ],
    },
  ],
  nameOf,
  acts: {
    disable: bulkAct(({ console }) => console.pools.bulk.disable, byId(statusChange("disable")), nameOf),
    enable: bulkAct(({ console }) => console.pools.bulk.enable, byId(statusChange("enable")), nameOf, {
      isHarmless: true,
    }),
  },
  findName: async (deps, organisation, id) => (await findPoolAt(deps, organisation, { pool: id }))?.name,
  export: {
    name: "signing-pools",
    columns: {
      id: ({ id }) => id,
      name: nameOf,
      status: ({ status }) => status,
      algorithms: ({ algs }) => algs.join(" "),
      agents: ({ agents }) => agents,
      agentsOnline: ({ live }) => live,
      waiting: ({ waiting }) => waiting,
      signed: ({ signed }) => signed,
      failed: ({ failed }) => failed,
    },
  },
  create: ({ consoleUri, messages: { console } }) =>
    buttonLink({ id: "pool-new", uri: consoleUri("/pools/new"), label: console.pools.make, kind: "primary" }),
  done: ({ console: { pools } }) => ({ deleted: pools.done.deleted }),
} satisfies List<ConsoleDeps, PoolRow, PoolSort, PoolChoices>;
