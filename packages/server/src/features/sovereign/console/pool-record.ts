/** A signing pool's page: its tabs, and what each of them reads. */
import { ofPool, peakOfPool, type StoredKind } from "../../../core/activity/kinds.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { listPoolApplications } from "../../../core/signing-pools/signing-pool.store.ts";
import {
  type SigningPool,
  signingPoolIssuer,
  signingPoolJwksUri,
  signingPoolUrl,
} from "../../../core/signing-pools/signing-pool.ts";
import type { Content, Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { liveScript } from "../../../html/scripts.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { readCharts, readRange } from "../../../page-kit/activity-range.ts";
import { listUri } from "../../../page-kit/list/list-address.ts";
import { renderList } from "../../../page-kit/list/list-view.ts";
import { type ConsoleDeps, consolePath, pathParams, type Visit } from "../../../page-kit/page.ts";
import { type TabbedRecord, tabRest } from "../../../page-kit/record-tabs.ts";
import { countAgents } from "./agent-list.store.ts";
import { agentList } from "./agent-list.ts";
import { listOpenRequests } from "./console.store.ts";
import { loadGroupKey } from "./group-key.ts";
import {
  abovePool,
  type LoadedPool,
  type PoolChartName,
  poolAgents,
  poolChart,
  poolOverview,
  poolRequests,
  poolSetup,
  type PoolView as ShownPool,
} from "./pool.page.ts";
import { AGENTS, findPoolAt, poolCrumbs, poolPath, requirePool } from "./pool-path.ts";
import { loadsOf, signersNeeded } from "./pool-state.ts";

/** Of applications that use the pool. */
export const MAX_APPLICATIONS = 10;
const MAX_REQUESTS = 25;

type PoolView = ShownPool & { readonly signedIn: SignedIn };

export const poolRecord: TabbedRecord<ConsoleDeps, SigningPool, PoolView> = {
  place: {
    current: "pools",
    require: requirePool,
    pathOf: poolPath,
    crumbsAbove: (frame) => poolCrumbs(frame),
  },
  load: async (deps, view, _, signedIn) => ({
    ...view,
    signedIn,
    pool: await withLoad(deps, view.record),
    hasAgents: (await countAgents(deps.database.query, view.record.orgId, anyAgent(deps, view.record))) > 0,
  }),
  above: abovePool,
  tabs: [
    {
      name: "overview",
      url: "/oauth/manage/:org/pools/:pool",
      content: showOverview,
      scripts: [liveScript.path],
    },
    {
      name: "agents",
      url: "/oauth/manage/:org/pools/:pool/agents",
      content: async (deps, view, visit) =>
        poolAgents({
          ...view,
          agents: await agentsOf(deps, view, visit),
          chart: await chartOf(deps, view, visit, "agents-online", AGENTS),
        }),
      scripts: [liveScript.path],
    },
    {
      name: "requests",
      url: "/oauth/manage/:org/pools/:pool/requests",
      content: async (deps, view, visit) => {
        const { orgId, id: poolId } = view.record;
        const wanted = { orgId, poolId, now: deps.clock(), limit: MAX_REQUESTS + 1 };
        return poolRequests({
          ...view,
          max: MAX_REQUESTS,
          open: await listOpenRequests(deps.database.query, wanted),
          chart: await chartOf(deps, view, visit, "queue", "/requests"),
        });
      },
    },
    { name: "settings", url: "/oauth/manage/:org/pools/:pool/settings" },
  ],
};

export const SETTINGS = tabRest(poolRecord, "settings");

const anyAgent = ({ clock }: ConsoleDeps, { id: poolId }: SigningPool) => ({
  ...{ poolId, now: clock(), status: undefined, text: undefined },
  max: 1,
});

const agentsOf = (deps: ConsoleDeps, view: PoolView, visit: Visit) =>
  renderList(deps, visit, view, view.signedIn, agentList(view.record));

async function showOverview(deps: ConsoleDeps, view: PoolView, visit: Visit): Promise<Content> {
  const { record: pool } = view;
  const used = { orgId: pool.orgId, poolId: pool.id, limit: MAX_APPLICATIONS + 1 };
  const applications = await listPoolApplications(deps.database.query, used);
  const groupKey = await loadGroupKey(deps, pool);
  const hasKey = groupKey && groupKey.key !== undefined;
  const has = { agents: view.hasAgents, applications: applications.length > 0, groupKey: hasKey };
  const isSetUp = view.pool.live >= signersNeeded(pool) && has.applications && hasKey !== false;
  return poolOverview({
    ...view,
    groupKey,
    setup: isSetUp ? undefined : poolSetup(view, has),
    agents: view.hasAgents ? undefined : await agentsOf(deps, view, visit),
    chart: await chartOf(deps, view, visit, "signatures", ""),
    issuer: signingPoolIssuer(deps.baseUrl, pool),
    jwksUri: signingPoolJwksUri(deps.baseUrl, pool),
    discoveryUri: `${signingPoolUrl(deps.baseUrl, pool)}/.well-known/openid-configuration`,
    applications: applications.slice(0, MAX_APPLICATIONS),
    hasMoreApplications: applications.length > MAX_APPLICATIONS,
  });
}

/** The panel of a new pool again; undefined where it has none. */
export async function showSetup(
  deps: ConsoleDeps,
  visit: Visit,
  messages: Messages,
): Promise<Html | undefined> {
  const pool = await findPoolAt(deps, visit.organisation, pathParams(visit));
  if (!pool) return undefined;
  const { query } = deps.database;
  const consoleUri = (rest: string) => consolePath(visit.organisation, rest);
  const groupKey = await loadGroupKey(deps, pool);
  return poolSetup(
    { pool: await withLoad(deps, pool), consoleUri, messages },
    {
      groupKey: groupKey && groupKey.key !== undefined,
      agents: (await countAgents(query, pool.orgId, anyAgent(deps, pool))) > 0,
      applications:
        (await listPoolApplications(query, { orgId: pool.orgId, poolId: pool.id, limit: 1 })).length > 0,
    },
  );
}

export const withLoad = async ({ database, clock }: ConsoleDeps, pool: SigningPool): Promise<LoadedPool> =>
  (await loadsOf(database.query, pool.orgId, [pool], clock()))(pool);

/** What a chart shows, by its series. */
const kindsOf: Readonly<Record<PoolChartName, (poolId: string) => readonly StoredKind[]>> = {
  signatures: (id) => [ofPool("pool-signatures", id), ofPool("failed-pool-signatures", id)],
  "agents-online": (id) => [peakOfPool("pool-agents", id)],
  queue: (id) => [peakOfPool("pool-queue", id)],
};

const rangeOf = (query: string): string => new URLSearchParams(query).get("range") ?? "";

/** @param rest of the tab that it stands in */
async function chartOf(
  { database, clock }: ConsoleDeps,
  { record: pool, uriOf, messages }: PoolView,
  visit: Visit,
  name: PoolChartName,
  rest: string,
): Promise<Html> {
  const { values } = parseQuery(visit.request);
  const range = readRange(values.get("range"));
  const kinds = kindsOf[name](pool.id);
  const { totals, ...times } = await readCharts(database.query, pool.orgId, {
    ...{ range, kinds, now: clock(), locale: messages.locale },
  });
  const counts = kinds.map((kind) => totals[kind] ?? []);
  // The list of agents stays as it is.
  const rangeUri = (query: string) =>
    rest === AGENTS
      ? listUri(agentList(pool), visit.organisation, new Map([...values, ["range", rangeOf(query)]]))
      : `${uriOf(rest)}${query}`;
  return poolChart(name, { ...times, range, counts }, { uriOf: rangeUri, messages });
}
