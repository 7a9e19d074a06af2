/** One signing pool: its tabs, and confirmations to disable, enable and delete it. */
import type { FastifyInstance } from "fastify";
import { listPoolApplications } from "../../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { applicationLinks } from "../../../html/components/application-links.ts";
import { html } from "../../../html/html.ts";
import { parseQuery } from "../../../http/form-body.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { renderLiveRows } from "../../../page-kit/list/list-view.ts";
import { livePieceRoute } from "../../../page-kit/live-piece.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  pathParams,
  queryString,
  requestPath,
  requireAdministrator,
  type Visit,
} from "../../../page-kit/page.ts";
import { tabbedRecordRoutes } from "../../../page-kit/record-tabs.ts";
import { deletePool, disablePool } from "../admin-api/pools.ts";
import { agentList } from "./agent-list.ts";
import { poolStatusPiece } from "./pool.page.ts";
import { findPoolAt, poolCrumbs, poolPath, requirePool } from "./pool-path.ts";
import { MAX_APPLICATIONS, poolRecord, SETTINGS, showSetup, withLoad } from "./pool-record.ts";

export function poolPageRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  tabbedRecordRoutes(app, deps, poolRecord);
  livePieceRoute(app, deps, "/oauth/manage/:org/pools/:pool/status", async (_, visit, messages) => {
    const { organisation } = visit;
    const pool = await findPoolAt(deps, organisation, pathParams(visit));
    const consoleUri = (rest: string) => consolePath(organisation, rest);
    return pool && poolStatusPiece({ pool: await withLoad(deps, pool), consoleUri, messages });
  });
  livePieceRoute(
    app,
    deps,
    "/oauth/manage/:org/pools/:pool/agents/live",
    async (_, visit, messages, signedIn) => {
      const pool = await findPoolAt(deps, visit.organisation, pathParams(visit));
      return pool && renderLiveRows(deps, visit, agentList(pool), signedIn, messages);
    },
  );
  livePieceRoute(app, deps, "/oauth/manage/:org/pools/:pool/setup", (_, visit, messages) =>
    showSetup(deps, visit, messages),
  );
  consoleRoute(app, deps, "/oauth/manage/:org/pools/:pool/agents/bulk", {
    get: ofAgents((list) => bulkHandlers(list).get),
    post: ofAgents((list) => bulkHandlers(list).post),
  });
  consoleRoute(app, deps, "/oauth/manage/:org/pools/:pool/agents/export", { get: ofAgents(listExport) });
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

export function statusChange(act: "disable" | "enable"): Confirmation<ConsoleDeps, SigningPool> {
  const disabled = act === "disable";
  return {
    current: "pools",
    load: findPoolAt,
    backUri: (organisation, pool) => poolPath(organisation, pool, SETTINGS),
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
  backUri: (organisation, { pool }) => poolPath(organisation, pool, SETTINGS),
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
