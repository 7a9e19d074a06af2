/** GET /oauth/manage/{org}: activity of the organisation, and what needs attention. */
import type { FastifyInstance } from "fastify";
import { readActivity } from "../../../core/activity/activity.store.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { AGENT_SEEN_MS } from "../../../core/signing-pools/agent-key.ts";
import { countAgentsByPool } from "../../../core/signing-pools/signing-agent.store.ts";
import { countPools } from "../../../core/signing-pools/signing-pool.store.ts";
import type { Db } from "../../../db/open.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { displayEvents } from "../audit-log/display-events.ts";
import { type AttentionDeps, needsAttention } from "./attention.ts";
import { type OverviewCharts, type OverviewView, overviewPage } from "./overview.page.ts";
import { countFigures } from "./overview.store.ts";
import { type RangeName, ranges, rangeTimes, readRange } from "./range.ts";

export type OverviewDeps = ConsoleDeps & AttentionDeps;

const MAX_EVENTS = 6;

export function overviewRoute(app: FastifyInstance, deps: OverviewDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org", { get: showOverview });
}

async function showOverview(deps: OverviewDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const range = readRange(parseQuery(visit.request).values.get("range"));
  const path = consolePath(organisation, range === "7d" ? "" : `?range=${range}`);
  const signedIn = await requireAdministrator(deps, visit, path);
  const frame = await consoleFrame(deps, visit, signedIn, "overview");
  const db = deps.database.query;
  const { id: orgId } = organisation;
  const now = deps.clock();
  const hasPools = (await countPools(db, orgId)) > 0;
  const counted = await countFigures(db, orgId, now);
  const page = overviewPage({
    ...frame,
    organisationName: organisation.name,
    figures: { ...counted, agents: hasPools ? await countAgents(db, orgId, now) : undefined },
    uris: overviewUris(organisation),
    range,
    charts: await loadCharts(db, orgId, { range, now, hasPools, messages: frame.messages }),
    attention: await needsAttention(deps, db, orgId, now),
    events: await newestEvents(deps, organisation, frame.messages),
    isNew: counted.applications === 0 || counted.users <= 1,
  });
  await show(visit, frame, page);
}

async function countAgents(db: Db, orgId: string, now: number): Promise<{ agents: number; live: number }> {
  const pools = [...(await countAgentsByPool(db, orgId, now - AGENT_SEEN_MS)).values()];
  return pools.reduce((sum, { agents, live }) => ({ agents: sum.agents + agents, live: sum.live + live }), {
    agents: 0,
    live: 0,
  });
}

async function loadCharts(
  db: Db,
  orgId: string,
  asked: { range: RangeName; now: number; hasPools: boolean; messages: Messages },
): Promise<OverviewCharts> {
  const { by, tickEvery, tick, point } = ranges[asked.range];
  const { locale } = asked.messages;
  const kinds = ["sign-ins", "failed-sign-ins", "tokens", "refused-tokens", "agents"] as const;
  const { from, to } = rangeTimes(asked.range, asked.now);
  const { times, totals } = await readActivity(db, orgId, { kinds, from, to, by });
  return {
    from,
    points: times.map(point(locale)),
    ticks: times.filter((_, index) => index % tickEvery === 0).map(tick(locale)),
    signIns: totals["sign-ins"],
    failedSignIns: totals["failed-sign-ins"],
    tokens: totals.tokens,
    refusedTokens: totals["refused-tokens"],
    agents: asked.hasPools ? totals.agents : undefined,
  };
}

async function newestEvents(
  deps: OverviewDeps,
  organisation: Organisation,
  messages: Messages,
): Promise<OverviewView["events"]> {
  const events = await listAuditEvents(deps.database.query, organisation.id, MAX_EVENTS);
  const displayed = await displayEvents(deps, organisation, events, messages);
  return displayed.map(({ event: { id, at }, who, what, target }) => ({
    ...{ id, at, who, what },
    on: target === undefined || target.isCode ? undefined : target.text,
    uri: consolePath(organisation, `/audit-log/${id}`),
  }));
}

const overviewUris = (organisation: Organisation): OverviewView["uris"] => {
  const to = (rest: string) => consolePath(organisation, rest);
  return {
    users: to("/users"),
    applications: to("/applications"),
    devices: `/devices/manage/${organisation.id}`,
    pools: to("/pools"),
    auditLog: to("/audit-log"),
    quickstart: to("/quickstart"),
    invite: to("/users/new"),
    signingKeys: to("/signing-keys"),
    mailTemplates: to("/mail-templates"),
    failedMails: to("/audit-log?action=mail.failed"),
    pool: (id) => to(`/pools/${id}`),
    application: (id) => to(`/applications/${id}`),
    range: (name) => to(name === "7d" ? "" : `?range=${name}`),
  };
};
