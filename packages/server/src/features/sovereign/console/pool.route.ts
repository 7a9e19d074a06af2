/** One signing pool: its page, and confirmations to disable, enable and delete it. */
import type { FastifyInstance } from "fastify";
import { ofPool, peakOfPool } from "../../../core/activity/kinds.ts";
import { listPoolApplications } from "../../../core/signing-pools/signing-pool.store.ts";
import {
  type SigningPool,
  signingPoolIssuer,
  signingPoolJwksUri,
  signingPoolUrl,
} from "../../../core/signing-pools/signing-pool.ts";
import { applicationLinks } from "../../../html/components/application-links.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { readCharts, readRange } from "../../../page-kit/activity-range.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { consoleFrame, doneKey } from "../../../page-kit/console-frame.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { renderList, renderLiveRows } from "../../../page-kit/list/list-view.ts";
import { livePieceRoute } from "../../../page-kit/live-piece.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  pathParams,
  queryString,
  requestPath,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { deletePool, disablePool } from "../admin-api/pools.ts";
import { agentList } from "./agent-list.ts";
import { type LoadedPool, type PoolCharts, poolPage, poolStatusPiece } from "./pool.page.ts";
import { findPoolAt, poolCrumbs, poolPath, requirePool } from "./pool-path.ts";
import { loadsOf } from "./pool-state.ts";

export function poolPageRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/pools/:pool", { get: showPool });
  livePieceRoute(app, deps, "/oauth/manage/:org/pools/:pool/status", async (_, visit, messages) => {
    const { organisation } = visit;
    const pool = await findPoolAt(deps, organisation, pathParams(visit));
    const consoleUri = (rest: string) => consolePath(organisation, rest);
    return pool && poolStatusPiece({ pool: await withLoad(deps, pool), consoleUri, messages });
  });
  livePieceRoute(app, deps, "/oauth/manage/:org/pools/:pool/live", async (_, visit, messages, signedIn) => {
    const pool = await findPoolAt(deps, visit.organisation, pathParams(visit));
    return pool && renderLiveRows(deps, visit, agentList(pool), signedIn, messages);
  });
  consoleRoute(app, deps, "/oauth/manage/:org/pools/:pool/bulk", {
    get: ofAgents((list) => bulkHandlers(list).get),
    post: ofAgents((list) => bulkHandlers(list).post),
  });
  consoleRoute(app, deps, "/oauth/manage/:org/pools/:pool/export", { get: ofAgents(listExport) });
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/disable", statusChange("disable"));
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/enable", statusChange("enable"));
  confirmationRoute(app, deps, "/oauth/manage/:org/pools/:pool/delete", deletion);
}

type Handler = (deps: ConsoleDeps, visit: Visit) => Promise<void>;

/** What is done with the agents of the pool in the address: who may not see it is not told whether there is one. */
const ofAgents =
  (handlerOf: (list: ReturnType<typeof agentList>) => Handler): Handler =>
  async (deps, visit) => {
    const query = queryString(Object.fromEntries(parseQuery(visit.request).values));
    await requireAdministrator(deps, visit, `${requestPath(visit)}${query}`);
    await handlerOf(agentList(await requirePool(deps, visit)))(deps, visit);
  };

const MAX_APPLICATIONS = 10;

async function showPool(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { values } = parseQuery(visit.request);
  const asked = queryString(Object.fromEntries(values));
  const signedIn = await requireAdministrator(deps, visit, `${requestPath(visit)}${asked}`);
  const pool = await requirePool(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "pools");
  const { orgId } = pool;
  const used = { orgId, poolId: pool.id, limit: MAX_APPLICATIONS + 1 };
  const applications = await listPoolApplications(deps.database.query, used);
  const page = poolPage({
    ...frame,
    pool: await withLoad(deps, pool),
    agents: await renderList(deps, visit, frame, signedIn, agentList(pool)),
    breadcrumbs: poolCrumbs(frame),
    issuer: signingPoolIssuer(deps.baseUrl, pool),
    jwksUri: signingPoolJwksUri(deps.baseUrl, pool),
    discoveryUri: `${signingPoolUrl(deps.baseUrl, pool)}/.well-known/openid-configuration`,
    charts: await chartsOf(deps, pool, visit, frame.messages),
    applications: applications.slice(0, MAX_APPLICATIONS),
    hasMoreApplications: applications.length > MAX_APPLICATIONS,
    lastChange: await findLastChange(deps, orgId, pool.id, frame.messages),
    done: doneKey(visit, frame.messages.console.pools.done),
  });
  await show(visit, frame, page);
}

const withLoad = async ({ database, clock }: ConsoleDeps, pool: SigningPool): Promise<LoadedPool> =>
  (await loadsOf(database.query, pool.orgId, [pool], clock()))(pool);

async function chartsOf(
  { database, clock }: ConsoleDeps,
  { orgId, id }: SigningPool,
  visit: Visit,
  { locale }: Messages,
): Promise<PoolCharts> {
  const range = readRange(parseQuery(visit.request).values.get("range"));
  const [signed, failed] = [ofPool("pool-signatures", id), ofPool("failed-pool-signatures", id)];
  const [agents, waiting] = [peakOfPool("pool-agents", id), peakOfPool("pool-queue", id)];
  const kinds = [signed, failed, agents, waiting] as const;
  const { totals, ...times } = await readCharts(database.query, orgId, {
    ...{ range, kinds, now: clock(), locale },
  });
  return {
    ...{ ...times, range, signed: totals[signed] ?? [], failed: totals[failed] ?? [] },
    ...{ agents: totals[agents] ?? [], waiting: totals[waiting] ?? [] },
  };
}

export function statusChange(act: "disable" | "enable"): Confirmation<ConsoleDeps, SigningPool> {
  const disabled = act === "disable";
  return {
    current: "pools",
    load: findPoolAt,
    backUri: poolPath,
    breadcrumbs: (frame, pool) => poolCrumbs(frame, { pool }),
    isDone: (_, { disabledAt }) => (disabledAt !== null) === disabled,
    question: ({ console: { pools } }, { name }) => {
      const text = pools[act];
      return {
        heading: text.heading({ name }),
        text: text.text,
        confirm: text.submit,
        confirmId: `pool-${act}-confirm`,
        isHarmless: !disabled,
      };
    },
    apply: async (deps, by, { id }) =>
      (await disablePool(deps, by, { id, disabled })) ? done(`${act}d`) : alreadyApplied,
  };
}

const deletion: Confirmation<
  ConsoleDeps,
  { pool: SigningPool; applications: Awaited<ReturnType<typeof listPoolApplications>> }
> = {
  current: "pools",
  load: async (deps, organisation, params) => {
    const pool = await findPoolAt(deps, organisation, params);
    if (!pool) return undefined;
    const used = { orgId: pool.orgId, poolId: pool.id, limit: MAX_APPLICATIONS };
    return { pool, applications: await listPoolApplications(deps.database.query, used) };
  },
  backUri: (organisation, { pool }) => poolPath(organisation, pool),
  breadcrumbs: poolCrumbs,
  question: ({ console: { pools } }, { pool, applications }, organisation) => {
    const { remove: text } = pools;
    return {
      heading: text.heading({ name: pool.name }),
      text: [
        html`<p>${text.text}</p>`,
        applications.length > 0 &&
          html`<p>${text.inUse}</p>${applicationLinks(applications, (rest) => consolePath(organisation, rest))}`,
      ],
      confirm: text.submit,
      confirmId: "pool-delete-confirm",
      name: pool.name,
    };
  },
  apply: async (deps, by, { pool }, { organisation, messages }) => {
    const { remove: text } = messages.console.pools;
    if ((await deletePool(deps, by, pool.id)) === "in-use")
      return { kind: "refused", title: text.refused, text: text.inUse };
    return applied(consolePath(organisation, "/pools?done=deleted"));
  },
};
