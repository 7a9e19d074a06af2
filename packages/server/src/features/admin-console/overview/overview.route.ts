/** GET /oauth/manage/{org}: activity of the organisation, and what needs attention. */
import type { FastifyInstance } from "fastify";
import { busiestApplications, sumActivity } from "../../../core/activity/activity.store.ts";
import { ofApplication } from "../../../core/activity/kinds.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { countDevicesByState } from "../../../core/devices/devices-by-state.store.ts";
import { AGENT_SEEN_MS } from "../../../core/signing-pools/agent-key.ts";
import { countAgentsByPool } from "../../../core/signing-pools/signing-agent.store.ts";
import { countPools } from "../../../core/signing-pools/signing-pool.store.ts";
import type { Db } from "../../../db/open.ts";
import { parseQuery } from "../../../http/form-body.ts";
import {
  type RangeName,
  rangeQuery,
  rangeTimes,
  readCharts,
  readRange,
  timesBefore,
} from "../../../page-kit/activity-range.ts";
import { displayEvents } from "../../../page-kit/audit-events/display-events.ts";
import { openPage } from "../../../page-kit/console-frame.ts";
import { type ConsoleDeps, consolePath, consoleRoute, show, type Visit } from "../../../page-kit/page.ts";
import { type AttentionDeps, needsAttention } from "./attention.ts";
import { chartKinds, comparedKinds, type OverviewCharts, overviewPage } from "./overview.page.ts";
import { countFigures } from "./overview.store.ts";

export type OverviewDeps = ConsoleDeps & AttentionDeps & { applications: Pick<ApplicationDirectory, "find"> };

const MAX_EVENTS = 6;
const MAX_APPLICATIONS = 5;

export function overviewRoute(app: FastifyInstance, deps: OverviewDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org", { get: showOverview });
}

async function showOverview(deps: OverviewDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const { id: orgId } = organisation;
  const range = readRange(parseQuery(visit.request).values.get("range"));
  const frame = await openPage(deps, visit, "overview", consolePath(organisation, rangeQuery(range)));
  const db = deps.database.query;
  const now = deps.clock();
  const hasPools = (await countPools(db, orgId)) > 0;
  const counted = await countFigures(db, orgId, now);
  const events = await listAuditEvents(db, orgId, MAX_EVENTS);
  const page = overviewPage({
    ...frame,
    figures: { ...counted, agents: hasPools ? await countAgents(db, orgId, now) : undefined },
    devices: (await countDevicesByState(db, orgId, { from: now, step: 1, points: 1, now })).now,
    devicesUri: `/devices/manage/${orgId}`,
    range,
    charts: await loadCharts(deps, orgId, range, { now, locale: frame.messages.locale }),
    attention: await needsAttention(deps, db, orgId, now),
    events: await displayEvents(deps, organisation, events, frame.messages),
    isNew: counted.applications === 0 || counted.users <= 1,
  });
  await show(visit, frame, page);
}

async function countAgents(db: Db, orgId: string, now: number): Promise<{ agents: number; live: number }> {
  const pools = [...(await countAgentsByPool(db, orgId, now - AGENT_SEEN_MS)).values()];
  const sum = (member: "agents" | "live") => pools.reduce((total, pool) => total + pool[member], 0);
  return { agents: sum("agents"), live: sum("live") };
}

/** With what they are compared to, and the applications that got the tokens. */
async function loadCharts(
  deps: OverviewDeps,
  orgId: string,
  range: RangeName,
  { now, locale }: { now: number; locale: string },
): Promise<OverviewCharts> {
  const db = deps.database.query;
  const times = { range, now, locale };
  const busiest = await busiestApplications(db, orgId, {
    ...rangeTimes(range, now),
    limit: MAX_APPLICATIONS,
  });
  const ofBusiest = busiest.map(({ applicationId }) => ofApplication(applicationId));
  const charts = await readCharts(db, orgId, { ...times, kinds: [...chartKinds, ...ofBusiest] });
  const before = await sumActivity(db, orgId, { kinds: comparedKinds, ...timesBefore(range, now) });
  const applications = busiest.map(async ({ applicationId: id }) => ({
    id,
    name: (await deps.applications.find(orgId, id))?.name,
    counts: charts.totals[ofApplication(id)] ?? [],
  }));
  return { ...charts, before, applications: await Promise.all(applications) };
}
