/** /api/v1/organisations/{org}/users/{id}/groups: the groups of a user, or of a guest. */
import { findUser } from "../../../core/users/users.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, listRoute } from "../frame/resource-routes.ts";
import { groupFields, listGroupPage } from "./group-lists.store.ts";
import { effectiveQuery } from "./group-members.route.ts";
import { groupRecord, groupSchema, type ShownGroup } from "./group-record.ts";

export function apiUserGroupsRoutes(api: ApiScope, deps: ApiDeps): void {
  const groups: ApiResource<ShownGroup> = {
    ...{ api, deps, tag: "API v1: users", one: "group", many: "groups" },
    reads: ["signet:users:read"],
    writes: ["signet:users:write"],
    schema: groupSchema,
    record: groupRecord,
  };
  listRoute(
    groups,
    "/api/v1/organisations/:org/users/:id/groups",
    {
      operationId: "apiListGroupsOfUser",
      summary: "List the groups of a user",
      fields: groupFields,
      query: effectiveQuery,
    },
    async ({ orgId, params, list, query }) => {
      const userId = idOf(params);
      const db = deps.database.query;
      if (!(await findUser(db, orgId, userId))) throw notFound();
      return listGroupPage(db, orgId, list, { userId, effective: query["effective"] === "true" });
    },
  );
}
