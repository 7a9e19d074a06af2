/** The custom scopes of an organisation, with the standard ones explained, and one of them (specification, "Scopes"). */
import type { FastifyInstance } from "fastify";
import { findUndefinedScopes } from "../../../core/applications/undefined-scopes.store.ts";
import { findResource } from "../../../core/protected-resources/protected-resources.store.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { findScopeUses } from "../../../core/scopes/scope-uses.store.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { standardScopes } from "../../../core/scopes/scopes.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import { type ConsoleDeps, consoleRoute } from "../../../page-kit/page.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import { type TabbedRecord, tabbedRecordRoutes } from "../../../page-kit/record-tabs.ts";
import { aboveScope, MAX_NAMED, scopeGeneral, scopeUseCards } from "./scope.page.ts";
import { scopePages, scopeRoutes } from "./scope.route.ts";
import { scopeList } from "./scope-list.ts";
import {
  ownScopesCard,
  reservedNamesNotice,
  standardScopesCard,
  undefinedScopesNotice,
} from "./scopes.page.ts";

/** More than an administrator mends at a time; what is left is there again afterwards. */
const MAX_UNDEFINED = 100;

export function scopesRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  listRoute(
    app,
    deps,
    "/oauth/manage/:org/scopes",
    scopeList,
    async (list, { messages, consoleUri }, { organisation }) => {
      const own = await listCustomScopes(deps.database.query, organisation.id);
      const standard = standardScopes.filter((name) => !own.some((scope) => scope.name === name));
      const undefinedOnes = await findUndefinedScopes(deps.database.query, organisation.id, MAX_UNDEFINED);
      return [
        undefinedScopesNotice(undefinedOnes, consoleUri, messages),
        reservedNamesNotice(own, consoleUri, messages),
        ownScopesCard(list, messages),
        standardScopesCard(standard, messages),
      ];
    },
  );
  tabbedRecordRoutes(app, deps, scopeRecord);
  consoleRoute(app, deps, "/oauth/manage/:org/scopes/export", { get: listExport(scopeList) });
  // Last, for they delete the record: invariants/ submits all forms in this order.
  consoleRoute(app, deps, "/oauth/manage/:org/scopes/bulk", bulkHandlers(scopeList));
  scopeRoutes(app, deps);
}

const scopeRecord: TabbedRecord<ConsoleDeps, CustomScope, RecordView<CustomScope>> = {
  place: scopePages,
  load: (_, view) => view,
  above: aboveScope,
  tabs: [
    {
      name: "general",
      url: "/oauth/manage/:org/scopes/:id",
      content: async ({ database }, view) => {
        const { orgId, resourceId: id } = view.record;
        return scopeGeneral(
          view,
          id === null ? undefined : await findResource(database.query, { orgId, id }),
        );
      },
    },
    {
      name: "applications",
      url: "/oauth/manage/:org/scopes/:id/applications",
      content: async ({ database }, view) => {
        return scopeUseCards(view, await findScopeUses(database.query, view.record, MAX_NAMED));
      },
    },
    {
      name: "activity",
      url: "/oauth/manage/:org/scopes/:id/activity",
      content: (deps, { record: { id }, messages }, { organisation }) =>
        activityCard(deps, organisation, { kind: "scope", id }, messages),
    },
  ],
};
