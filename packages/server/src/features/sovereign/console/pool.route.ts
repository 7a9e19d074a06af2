/** The page of one signing pool. */
import type { FastifyInstance } from "fastify";
import { readActivity } from "../../../core/activity/activity.store.ts";
import { HOUR_MS, ofPool } from "../../../core/activity/kinds.ts";
import { listPoolKeys } from "../../../core/signing-pools/agent-key.store.ts";
import { agentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { listAgents } from "../../../core/signing-pools/signing-agent.store.ts";
import { listPoolApplications } from "../../../core/signing-pools/signing-pool.store.ts";
import {
  type SigningPool,
  signingPoolIssuer,
  signingPoolJwksUri,
  signingPoolUrl,
} from "../../../core/signing-pools/signing-pool.ts";
import { formatDayAndHour, formatHour } from "../../../html/components/time-words.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { consoleFrame, doneKey } from "../../../page-kit/console-frame.ts";
import { livePieceRoute } from "../../../page-kit/live-piece.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  pathParams,
  requestPath,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { type ListedAgent, type PoolLive, poolLivePiece, poolPage, type Signatures } from "./pool.page.ts";
import { agentStatus, loadsOf } from "./pool-state.ts";
import { findPoolAt, poolAt, poolCrumbs, poolPath } from "./pool-visit.ts";

export function poolRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/pools/:pool", { get: showPool });
  livePieceRoute(app, deps, "/oauth/manage/:org/pools/:pool/live", async (_, visit, messages) => {
    const pool = await findPoolAt(deps, visit, pathParams(visit)["pool"]);
    return pool && poolLivePiece(await liveOf(deps, visit, pool), messages);
  });
}

/** Applications listed on the page. */
const MAX_APPLICATIONS = 10;
/** More than the limit of active agents: deactivated ones are listed, too. */
const MOST_AGENTS = 200;

async function showPool(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const { id: orgId } = organisation;
  const own = requestPath(visit);
  const signedIn = await requireAdministrator(deps, visit);
  const pool = await poolAt(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "pools");
  const used = { orgId, poolId: pool.id, limit: MAX_APPLICATIONS + 1 };
  const applications = await listPoolApplications(deps.database.query, used);
  const page = poolPage({
    ...frame,
    breadcrumbs: poolCrumbs(visit, frame.messages),
    pool,
    issuer: signingPoolIssuer(deps.baseUrl, pool),
    jwksUri: signingPoolJwksUri(deps.baseUrl, pool),
    discoveryUri: `${signingPoolUrl(deps.baseUrl, pool)}/.well-known/openid-configuration`,
    live: await liveOf(deps, visit, pool),
    signatures: await signaturesOf(deps, orgId, pool, frame.messages),
    applications: applications.slice(0, MAX_APPLICATIONS).map(({ id, name }) => ({
      name,
      uri: consolePath(organisation, `/applications/${id}`),
    })),
    hasMoreApplications: applications.length > MAX_APPLICATIONS,
    uris: {
      own,
      settings: `${own}/settings`,
      newAgent: `${own}/agents/new`,
      disable: `${own}/disable`,
      enable: `${own}/enable`,
      delete: `${own}/delete`,
    },
    lastChange: await findLastChange(deps, orgId, pool.id, frame.messages),
    done: doneKey(visit, frame.messages.console.pools.done),
  });
  await show(visit, frame, page);
}

async function liveOf(deps: ConsoleDeps, visit: Visit, pool: SigningPool): Promise<PoolLive> {
  const db = deps.database.query;
  const now = deps.clock();
  const { orgId } = pool;
  const load = (await loadsOf(db, orgId, [pool], now)).get(pool.id);
  const agents = await listAgents(db, orgId, { poolId: pool.id, limit: MOST_AGENTS });
  const keys = await listPoolKeys(db, orgId, pool.id);
  const listed = agents.map((agent): ListedAgent => {
    const own = keys.filter(({ agentId }) => agentId === agent.id);
    return {
      ...{ id: agent.id, name: agent.name, lastSeenAt: agent.lastSeenAt },
      status: agentStatus(agent, now),
      uri: poolPath(visit, pool.id, `/agents/${agent.id}`),
      keys: own
        .map(({ kid, alg, x5c, ...times }) => ({
          ...{ kid, alg, hasCertificate: x5c.length > 0 },
          state: agentKeyState(times, now),
        }))
        .filter(({ state }) => state !== "retired"),
    };
  });
  const isAtWork = ({ status }: ListedAgent) => status !== "deactivated" && status !== "compromised";
  return {
    liveUri: poolPath(visit, pool.id, "/live"),
    load,
    // Active agents first, then by creation.
    agents: [...listed.filter(isAtWork), ...listed.filter((agent) => !isAtWork(agent))],
  };
}

/** In the last 24 hours. */
async function signaturesOf(
  { database, clock }: ConsoleDeps,
  orgId: string,
  { id }: SigningPool,
  { locale }: Messages,
): Promise<Signatures> {
  const [signed, failed] = [ofPool("pool-signatures", id), ofPool("failed-pool-signatures", id)];
  const to = clock() - (clock() % HOUR_MS) + HOUR_MS;
  const asked = { kinds: [signed, failed], from: to - 24 * HOUR_MS, to, by: "hour" } as const;
  const { times, totals } = await readActivity(database.query, orgId, asked);
  return {
    from: to - 24 * HOUR_MS,
    points: times.map(formatDayAndHour(locale)),
    ticks: times.filter((_, index) => index % 6 === 0).map(formatHour(locale)),
    signed: totals[signed] ?? [],
    failed: totals[failed] ?? [],
  };
}
