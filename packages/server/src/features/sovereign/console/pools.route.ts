/** The list of signing pools with their status. */
import type { FastifyInstance } from "fastify";
import { listAllPools } from "../../../core/signing-pools/signing-pool.store.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { livePieceRoute } from "../../../page-kit/live-piece.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { loadsOf } from "./pool-state.ts";
import { poolPath } from "./pool-visit.ts";
import { type ListedPool, poolsPage, poolTable } from "./pools.page.ts";

export function poolsRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/pools", { get: showPools });
  livePieceRoute(app, deps, "/oauth/manage/:org/pools/live", async (_, visit, messages) =>
    poolTable({ messages, pools: await listedPools(deps, visit), liveUri: liveUri(visit) }),
  );
}

const liveUri = ({ organisation }: Visit): string => consolePath(organisation, "/pools/live");

async function showPools(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const signedIn = await requireAdministrator(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "pools");
  const page = poolsPage({
    ...frame,
    pools: await listedPools(deps, visit),
    liveUri: liveUri(visit),
    ownUri: consolePath(organisation, "/pools"),
    newUri: consolePath(organisation, "/pools/new"),
    isDeleted: parseQuery(request).values.get("done") === "deleted",
  });
  await show(visit, frame, page);
}

async function listedPools({ database, clock }: ConsoleDeps, visit: Visit): Promise<ListedPool[]> {
  const { id: orgId } = visit.organisation;
  const pools = await listAllPools(database.query, orgId);
  const loads = await loadsOf(database.query, orgId, pools, clock());
  return pools.flatMap(({ id, name, algs }) => {
    const load = loads.get(id);
    return load ? [{ id, name, algs, uri: poolPath(visit, id), ...load }] : [];
  });
}
