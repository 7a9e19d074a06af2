/** The users of an application whose access is `assigned` (wire-contract.md §4). */
import Type from "typebox";
import {
  type AssignedUser,
  listAssignedUsers,
} from "../../../core/application-access/application-access.store.ts";
import { assignUser, unassignUser } from "../../../core/application-access/application-access.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { pageOf, pageQuerySchema, pageSchema, readPage } from "../../../http/api/paging.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { wireTime } from "../../../http/api/times.ts";
import { by, type ManagementDeps } from "../management.ts";

const shared = { tag: "Clients", credential: "administrator" } as const;

const assignedSchema = Type.Object(
  {
    permId: Type.String({ format: "uuid" }),
    email: Type.String(),
    assignedBy: Type.String(),
    assignedAt: Type.String({ format: "date-time" }),
  },
  { title: "AssignedUser" },
);

const assignedRecord = ({ id, email, assignedBy, assignedAt }: AssignedUser) => ({
  permId: id,
  email,
  assignedBy,
  assignedAt: wireTime(assignedAt),
});

export function assignedUsersRoutes(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(api, {
    ...shared,
    method: "GET",
    path: "/legacy/api/oauth/clients/:clientId/users",
    operationId: "listAssignedUsers",
    summary: "List the users assigned to a client, by PermId",
    query: pageQuerySchema,
    answers: { 200: { description: "A page of users", schema: pageSchema(assignedSchema) } },
    authenticator: deps.authenticator,
    handler: async ({ caller, params, query }) => {
      const page = readPage(query);
      const key = { orgId: caller.organisation.id, applicationId: idOf(params, "clientId") };
      if (!(await findApplication(deps.database.query, key.orgId, key.applicationId))) throw notFound();
      const { items, nextCursor } = pageOf(await listAssignedUsers(deps.database.query, key, page), page);
      return { status: 200, body: { items: items.map(assignedRecord), nextCursor } };
    },
  });
  apiRoute(api, {
    ...shared,
    method: "PUT",
    path: "/legacy/api/oauth/clients/:clientId/users/:permId",
    operationId: "assignUser",
    summary: "Assign a user to a client whose access is limited to assigned users",
    answers: { 204: { description: "Assigned" } },
    authenticator: deps.authenticator,
    handler: async ({ caller, params }) => {
      const assignment = { orgId: caller.organisation.id, ...idsOf(params), ...by(caller) };
      if (typeof (await assignUser(deps, assignment)) === "string") throw notFound();
      return { status: 204 };
    },
  });
  apiRoute(api, {
    ...shared,
    method: "DELETE",
    path: "/legacy/api/oauth/clients/:clientId/users/:permId",
    operationId: "unassignUser",
    summary: "Unassign a user from a client and revoke the user's tokens there immediately",
    answers: { 204: { description: "Unassigned" } },
    authenticator: deps.authenticator,
    handler: async ({ caller, params }) => {
      const assignment = { orgId: caller.organisation.id, ...idsOf(params), ...by(caller) };
      if (!(await unassignUser(deps, assignment))) throw notFound();
      return { status: 204 };
    },
  });
}

const idsOf = (params: Readonly<Record<string, string>>) => ({
  applicationId: idOf(params, "clientId"),
  userId: idOf(params, "permId"),
});
