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
import { liveScript } from "../../../html/scripts.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { readCharts, readRange } from "../../../page-kit/activity-range.ts";
import { renderList } from "../../../page-kit/list/list-view.ts";
import type { ConsoleDeps, Visit } from "../../../page-kit/page.ts";
import { type TabbedRecord, tabRest } from "../../../page-kit/record-tabs.ts";
import { countAgents } from "./agent-list.store.ts";
import { agentList } from "./agent-list.ts";
import { listOpenRequests } from "./console.store.ts";
import {
  abovePool,
  type LoadedPool,
  type PoolChartName,
  poolAgents,
  poolChart,
  poolOverview,
  poolRequests,
  type PoolView as ShownPool,
} from "./pool.page.ts";
import { AGENTS, poolCrumbs, poolPath, requirePool } from "./pool-path.ts";
import { loadsOf } from "./pool-state.ts";

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
  return poolOverview({
    ...view,
    agents: view.hasAgents ? undefined : await agentsOf(deps, view, visit),
    chart: await chartOf(deps, view, visit, "signatures", ""),
    issuer: signingPoolIssuer(deps.baseUrl, pool),
    jwksUri: signingPoolJwksUri(deps.baseUrl, pool),
    discoveryUri: `${signingPoolUrl(deps.baseUrl, pool)}/.well-known/openid-configuration`,
    applications: applications.slice(0, MAX_APPLICATIONS),
    hasMoreApplications: applications.length > MAX_APPLICATIONS,
  });
}

export const withLoad = async ({ database, clock }: ConsoleDeps, pool: SigningPool): Promise<LoadedPool> =>
  (await loadsOf(database.query, pool.orgId, [pool], clock()))(pool);

/** What a chart shows, by its series. */
const kindsOf: Readonly<Record<PoolChartName, (poolId: string) => readonly StoredKind[]>> = {
  signatures: (id) => [ofPool("pool-signatures", id), ofPool("failed-pool-signatures", id)],
  "agents-online": (id) => [peakOfPool("pool-agents", id)],
  queue: (id) => [peakOfPool("pool-queue", id)],
};

/** @param rest of the tab that it stands in */
async function chartOf(
  { database, clock }: ConsoleDeps,
  { record: { orgId, id }, uriOf, messages }: PoolView,
  visit: Visit,
  name: PoolChartName,
  rest: string,
): Promise<Html> {
  const range = readRange(parseQuery(visit.request).values.get("range"));
  const kinds = kindsOf[name](id);
  const { totals, ...times } = await readCharts(database.query, orgId, {
    ...{ range, kinds, now: clock(), locale: messages.locale },
  });
  const counts = kinds.map((kind) => totals[kind] ?? []);
  return poolChart(name, { ...times, range, counts }, { uri: uriOf(rest), messages });
}
