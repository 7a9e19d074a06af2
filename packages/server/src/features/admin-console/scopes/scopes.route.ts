/** GET /oauth/manage/{org}/scopes: custom scopes, and the standard ones explained (specification, "Scopes"). */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { readSearch, splitPage } from "../../../page-kit/list-page.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { deleteScopeRoute } from "./delete-scope.route.ts";
import { editScopeRoute } from "./edit-scope.route.ts";
import { scopeRoutes } from "./scope.route.ts";
import { scopesPage } from "./scopes.page.ts";

export function scopesRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/scopes", { get: showScopes });
  scopeRoutes(app, deps);
  editScopeRoute(app, deps);
  deleteScopeRoute(app, deps);
}

async function showScopes(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const { values } = parseQuery(visit.request);
  const search = readSearch(values);
  const after = values.get("after");
  const pageUri = (more: Record<string, string | undefined> = {}) =>
    consolePath(organisation, `/scopes${queryString({ search, ...more })}`);
  const signedIn = await requireAdministrator(deps, visit, pageUri({ after }));
  // At most a hundred: every token request reads them.
  const all = await listCustomScopes(deps.database.query, organisation.id);
  const words = search.toLowerCase();
  const found = all
    .filter(({ name, displayName }) => `${name}\n${displayName}`.toLowerCase().includes(words))
    .filter(({ id }) => after === undefined || !isUuid(after) || id > after);
  const { shown, last } = splitPage(found);
  const frame = await consoleFrame(deps, visit, signedIn, "scopes");
  const page = scopesPage({
    ...frame,
    search,
    scopes: shown.map((scope) => ({ scope, uri: consolePath(organisation, `/scopes/${scope.id}`) })),
    newestUri: after === undefined ? undefined : pageUri(),
    olderUri: last && pageUri({ after: last.id }),
    isDeleted: values.get("done") === "deleted",
  });
  await show(visit, frame, page);
}
