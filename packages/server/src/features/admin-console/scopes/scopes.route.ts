/** oauth/manage/{org}/scopes: the organisation's own scopes, and what the standard ones mean (specification, "Scopes"). */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { queryOf } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryText,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { deleteScopeRoute } from "./delete-scope.route.ts";
import { scopeRoutes } from "./scope.route.ts";
import { scopesPage } from "./scopes.page.ts";

const ON_A_PAGE = 25;

export function scopesRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/scopes", { get: (visit) => showScopes(deps, visit) });
  scopeRoutes(app, deps);
  deleteScopeRoute(app, deps);
}

async function showScopes(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const { values } = queryOf(request);
  const search = (values.get("search") ?? "").trim().slice(0, 100);
  const after = values.get("after");
  const at = (more: Record<string, string | undefined> = {}) =>
    consolePath(organisation, `/scopes${queryText({ search, ...more })}`);
  const signedIn = await administratorHere(deps, visit, at({ after }));
  if (!signedIn) return;
  // There are at most a hundred, which every token request looks through.
  const all = await listCustomScopes(deps.database.query, organisation.id);
  const words = search.toLowerCase();
  const rest = all
    .filter(({ name, displayName }) => `${name}\n${displayName}`.toLowerCase().includes(words))
    .filter(({ id }) => after === undefined || !isUuid(after) || id > after);
  const shown = rest.slice(0, ON_A_PAGE);
  const frame = await consoleFrame(deps, visit, signedIn, "scopes");
  const done = values.get("done");
  const page = scopesPage({
    ...frame,
    listUri: consolePath(organisation, "/scopes"),
    newUri: consolePath(organisation, "/scopes/new"),
    search,
    scopes: shown.map((scope) => ({ scope, uri: consolePath(organisation, `/scopes/${scope.id}`) })),
    newestUri: after === undefined ? undefined : at(),
    olderUri: rest.length > shown.length ? at({ after: shown.at(-1)?.id }) : undefined,
    done: done === "deleted" ? done : undefined,
  });
  await show(visit, frame, page);
}
