/** The lists of those who are assigned to an application. */
import Type from "typebox";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { wireTime } from "../../../http/api/times.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, listRoute } from "../frame/resource-routes.ts";
import {
  type AssignedPage,
  assignedGroupFields,
  assignedUserFields,
  listAssignedGroupPage,
  listAssignedUserPage,
} from "./assigned-lists.store.ts";

type Assigned = AssignedPage["rows"][number];

const schemaOf = (name: "email" | "displayName", title: string) =>
  Type.Object(
    {
      id: Type.String({ format: "uuid" }),
      [name]: Type.String(),
      createdBy: Type.String({ description: "Who assigned, as the audit log names actors" }),
      createdAt: Type.String({ format: "date-time" }),
    },
    { title },
  );

const recordOf =
  (member: "email" | "displayName") =>
  ({ id, name, createdBy, createdAt }: Assigned) => ({
    ...{ id, [member]: name, createdBy, createdAt: wireTime(createdAt) },
  });

const shared = (api: ApiScope, deps: ApiDeps) =>
  ({
    ...{ api, deps, tag: "API v1: applications" },
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
  }) satisfies Partial<ApiResource<Assigned>>;

/** @throws ApiError 404 */
async function ofApplication({ database }: ApiDeps, orgId: string, params: Record<string, string>) {
  const applicationId = idOf(params);
  if (!(await findApplication(database.query, orgId, applicationId))) throw notFound();
  return { orgId, applicationId };
}

export function listAssignedUsersRoute(api: ApiScope, deps: ApiDeps): void {
  const names = { one: "assigned user", many: "assigned users" };
  listRoute<Assigned, ApiDeps>(
    {
      ...{ ...shared(api, deps), ...names },
      schema: schemaOf("email", "ApiAssignedUser"),
      record: recordOf("email"),
    },
    "/api/v1/organisations/:org/applications/:id/users",
    {
      operationId: "apiListAssignedUsers",
      summary: "List the users who are assigned to an application themselves",
      fields: assignedUserFields,
    },
    async ({ orgId, params, list }) =>
      listAssignedUserPage(deps.database.query, await ofApplication(deps, orgId, params), list),
  );
}

export function listAssignedGroupsRoute(api: ApiScope, deps: ApiDeps): void {
  const names = { one: "assigned group", many: "assigned groups" };
  listRoute<Assigned, ApiDeps>(
    {
      ...{ ...shared(api, deps), ...names },
      schema: schemaOf("displayName", "ApiAssignedGroup"),
      record: recordOf("displayName"),
    },
    "/api/v1/organisations/:org/applications/:id/groups",
    {
      operationId: "apiListAssignedGroups",
      summary: "List the groups that are assigned to an application",
      fields: assignedGroupFields,
    },
    async ({ orgId, params, list }) =>
      listAssignedGroupPage(deps.database.query, await ofApplication(deps, orgId, params), list),
  );
}
