/** The users of an application whose access is `assigned` (wire-contract.md §4): listed, assigned, taken off. */
import Type from "typebox";
import { assignUser, listAssignedUsers, unassignUser } from "../../../core/application-access/assignments.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { pageOf, pageSchema, readPage } from "../../../http/api/paging.ts";
import { by, idOf, type ManagementDeps, pageQuerySchema } from "../management.ts";

const LIST = "/legacy/api/oauth/clients/:clientId/users";
const ONE = `${LIST}/:permId`;
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

export function assignedUsersRoutes(api: ApiScope, deps: ManagementDeps): void {
  listRoute(api, deps);
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "PUT",
      path: ONE,
      operationId: "assignUser",
      summary: "Lets a user use an application whose access is for assigned users",
      answers: { 204: { description: "The user is assigned" } },
    },
    async ({ caller, params }) => {
      const act = { orgId: caller.organisation.id, ...idsOf(params), ...by(caller) };
      if (typeof (await assignUser(deps, act)) === "string") throw notFound();
      return { status: 204 };
    },
  );
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "DELETE",
      path: ONE,
      operationId: "unassignUser",
      summary: "Takes a user off an application; what they hold there ends at once",
      answers: { 204: { description: "The user is not assigned any more" } },
    },
    async ({ caller, params }) => {
      const act = { orgId: caller.organisation.id, ...idsOf(params), ...by(caller) };
      if (!(await unassignUser(deps, act))) throw notFound();
      return { status: 204 };
    },
  );
}

const idsOf = (params: Readonly<Record<string, string>>) => ({
  applicationId: idOf(params, "clientId"),
  userId: idOf(params, "permId"),
});

function listRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "GET",
      path: LIST,
      operationId: "listAssignedUsers",
      summary: "The users assigned to an application, by PermId",
      query: pageQuerySchema,
      answers: { 200: { description: "A page of users", schema: pageSchema(assignedSchema) } },
    },
    async ({ caller, params, query }) => {
      const page = readPage(query);
      const of = { orgId: caller.organisation.id, applicationId: idOf(params, "clientId") };
      if (!(await findApplication(deps.database.query, of.orgId, of.applicationId))) throw notFound();
      const { items, nextCursor } = pageOf(await listAssignedUsers(deps, of, page), page);
      const records = items.map(({ id, email, assignedBy, assignedAt }) => ({
        permId: id,
        email,
        assignedBy,
        assignedAt: new Date(assignedAt).toISOString(),
      }));
      return { status: 200, body: { items: records, nextCursor } };
    },
  );
}
