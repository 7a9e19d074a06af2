/** GET /oauth/manage/{org}: activity of the organisation, and what needs attention. */
import type { FastifyInstance } from "fastify";
import { readActivity } from "../../../core/activity/activity.store.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { AGENT_SEEN_MS } from "../../../core/signing-pools/agent-key.ts";
import { countAgentsByPool } from "../../../core/signing-pools/signing-agent.store.ts";
import { countPools } from "../../../core/signing-pools/signing-pool.store.ts";
import type { Db } from "../../../db/open.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { openPage } from "../../../page-kit/console-frame.ts";
import { type ConsoleDeps, consolePath, consoleRoute, show, type Visit } from "../../../page-kit/page.ts";
import { displayEvents } from "../audit-log/display-events.ts";
import { type AttentionDeps, needsAttention } from "./attention.ts";
import { chartKinds, type OverviewCharts, overviewPage } from "./overview.page.ts";
import { countFigures } from "./overview.store.ts";
import { type RangeName, rangeQuery, ranges, rangeTimes, readRange } from "./range.ts";

export type OverviewDeps = ConsoleDeps & AttentionDeps;

const MAX_EVENTS = 6;

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
    devicesUri: `/devices/manage/${orgId}`,
    range,
    charts: await loadCharts(db, orgId, range, { now, locale: frame.messages.locale }),
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

async function loadCharts(
  db: Db,
  orgId: string,
  range: RangeName,
  { now, locale }: { now: number; locale: string },
): Promise<OverviewCharts> {
  const { by, tickEvery, tick, point } = ranges[range];
  const { from, to } = rangeTimes(range, now);
  const { times, totals } = await readActivity(db, orgId, { kinds: chartKinds, from, to, by });
  return {
    from,
    points: times.map(point(locale)),
    ticks: times.filter((_, index) => index % tickEvery === 0).map(tick(locale)),
    totals,
  };
}
