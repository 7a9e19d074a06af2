/** The custom scopes of an organisation, with the standard ones explained, and one of them (specification, "Scopes"). */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { standardScopes } from "../../../core/scopes/scopes.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import type { Html } from "../../../html/html.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { doneKey, openPage, readingRoute } from "../../../page-kit/console-frame.ts";
import { pageUris, readSearch, splitPage } from "../../../page-kit/list-page.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { scopePage } from "./scope.page.ts";
import { scopePages, scopeRoutes } from "./scope.route.ts";
import { scopesPage } from "./scopes.page.ts";
import { applicationsAllowing } from "./scopes.store.ts";

export function scopesRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/scopes", { get: showScopes });
  readingRoute(app, deps, "/oauth/manage/:org/scopes/:id", "scopes", showScope);
  scopeRoutes(app, deps);
}

async function showScopes(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { values } = parseQuery(visit.request);
  const search = readSearch(values);
  const after = values.get("after");
  const listUri = (cursor?: string) =>
    consolePath(visit.organisation, `/scopes${queryString({ search, after: cursor })}`);
  const frame = await openPage(deps, visit, "scopes", listUri(after));
  // At most a hundred: every token request reads them.
  const all = await listCustomScopes(deps.database.query, visit.organisation.id);
  const words = search.toLowerCase();
  const found = all
    .filter(({ name, displayName }) => `${name}\n${displayName}`.toLowerCase().includes(words))
    .filter(({ id }) => after === undefined || !isUuid(after) || id > after);
  const { shown, last } = splitPage(found);
  const page = scopesPage({
    ...frame,
    search,
    scopes: shown,
    standard: standardScopes.filter((name) => !all.some((scope) => scope.name === name)),
    ...pageUris(listUri, after, last?.id),
    isDeleted: values.get("done") === "deleted",
  });
  await show(visit, frame, page);
}

async function showScope(deps: ConsoleDeps, visit: Visit, frame: ConsoleFrame): Promise<Html> {
  const { organisation } = visit;
  const scope = await scopePages.require(deps, visit);
  return scopePage({
    ...frame,
    scope,
    applications: await applicationsAllowing(deps.database.query, organisation.id, scope.name),
    lastChange: await findLastChange(deps, organisation.id, scope.id, frame.messages),
    done: doneKey(visit, frame.messages.console.scopes.done),
  });
}
