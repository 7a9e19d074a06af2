/** The custom scopes of an organisation, with the standard ones explained, and one of them (specification, "Scopes"). */
import type { FastifyInstance } from "fastify";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { standardScopes } from "../../../core/scopes/scopes.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import type { Html } from "../../../html/html.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { doneKey, readingRoute } from "../../../page-kit/console-frame.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import { type ConsoleDeps, consoleRoute, type Visit } from "../../../page-kit/page.ts";
import { scopePage } from "./scope.page.ts";
import { scopePages, scopeRoutes } from "./scope.route.ts";
import { scopeList } from "./scope-list.ts";
import { ownScopesCard, standardScopesCard } from "./scopes.page.ts";
import { applicationsAllowing } from "./scopes.store.ts";

export function scopesRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  listRoute(
    app,
    deps,
    "/oauth/manage/:org/scopes",
    scopeList,
    async (list, { messages }, { organisation }) => {
      const own = await listCustomScopes(deps.database.query, organisation.id);
      const standard = standardScopes.filter((name) => !own.some((scope) => scope.name === name));
      return [ownScopesCard(list, messages), standardScopesCard(standard, messages)];
    },
  );
  readingRoute(app, deps, "/oauth/manage/:org/scopes/:id", "scopes", showScope);
  consoleRoute(app, deps, "/oauth/manage/:org/scopes/export", { get: listExport(scopeList) });
  // Last, for they delete the record: invariants/ submits all forms in this order.
  consoleRoute(app, deps, "/oauth/manage/:org/scopes/bulk", bulkHandlers(scopeList));
  scopeRoutes(app, deps);
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
