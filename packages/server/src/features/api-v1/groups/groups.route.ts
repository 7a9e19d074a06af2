/** /api/v1/organisations/{org}/groups: the organisation's groups. */
import Type from "typebox";
import { findGroup } from "../../../core/groups/groups.store.ts";
import { changeGroup, createGroup, deleteGroup, handOverGroup } from "../../../core/groups/groups.ts";
import { invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import {
  type ApiResource,
  actRoute,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
} from "../frame/resource-routes.ts";
import { groupFields, listGroupPage } from "./group-lists.store.ts";
import { groupMembersRoutes } from "./group-members.route.ts";
import {
  groupPatch,
  groupRecord,
  groupSchema,
  newGroup,
  type ShownGroup,
  toGroupAnswer,
} from "./group-record.ts";

export function apiGroupsRoutes(api: ApiScope, deps: ApiDeps): void {
  const groups: ApiResource<ShownGroup> = {
    ...{ api, deps, tag: "API v1: groups", one: "group", many: "groups" },
    reads: ["signet:groups:read"],
    writes: ["signet:groups:write"],
    schema: groupSchema,
    record: groupRecord,
    volatile: ["memberCount"],
    toAnswer: toGroupAnswer,
  };
  listRoute(
    groups,
    "/api/v1/organisations/:org/groups",
    { operationId: "apiListGroups", summary: "List groups", fields: groupFields, search: true },
    ({ orgId, list }) => listGroupPage(deps.database.query, orgId, list),
  );
  getRoute(
    groups,
    "/api/v1/organisations/:org/groups/:id",
    { operationId: "apiReadGroup", summary: "Get a group" },
    ({ orgId, id }) => findGroup(deps.database.query, { orgId, id }),
  );
  createRoute(
    groups,
    "/api/v1/organisations/:org/groups",
    {
      operationId: "apiCreateGroup",
      summary: "Create a group",
      body: newGroup,
      example: { displayName: "Accounting", description: "Who writes invoices" },
      errors: [409],
    },
    async (inside, { caller, body }) => {
      const { displayName, description = null, externalId = null } = body;
      const content = { displayName, description, externalId };
      return { row: await createGroup(inside, { ...actOf(caller), content }) };
    },
  );
  changeRoutes(groups);
  groupMembersRoutes(groups);
}

function changeRoutes(groups: ApiResource<ShownGroup>): void {
  patchRoute(
    groups,
    "/api/v1/organisations/:org/groups/:id",
    {
      operationId: "apiChangeGroup",
      summary: "Change a group",
      body: groupPatch,
      example: { displayName: "Accounts" },
      errors: [409],
    },
    async (inside, { caller, id, check, patch }) => {
      const { displayName, ...others } = patch;
      if (displayName === null) throw invalid([{ path: "/displayName", message: "cannot be unset" }]);
      const content = { ...others, ...(displayName === undefined ? {} : { displayName }) };
      return changeGroup(inside, { ...actOf(caller), id, check, content });
    },
  );
  deleteRoute(
    groups,
    "/api/v1/organisations/:org/groups/:id",
    {
      operationId: "apiDeleteGroup",
      summary: "Delete a group: its members stay, without what they had by it",
      errors: [409],
    },
    (inside, { caller, id, check }) => deleteGroup(inside, { ...actOf(caller), id, check }),
  );
  actRoute(
    groups,
    "/api/v1/organisations/:org/groups/:id/hand-over",
    {
      operationId: "apiHandOverGroup",
      summary: "Hand a group over to a connection, or make it the organisation's own",
      body: handOver,
      example: { connectionId: null },
      errors: [409],
    },
    (inside, { caller, id, check, body }) =>
      handOverGroup(inside, { ...actOf(caller), id, check, to: body.connectionId?.toLowerCase() ?? null }),
  );
}

const handOver = strictObject({
  connectionId: Type.Optional(
    Type.Union([Type.String({ format: "uuid", description: "The connection that takes over" }), Type.Null()]),
  ),
});
