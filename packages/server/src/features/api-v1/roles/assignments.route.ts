/** /api/v1/organisations/{org}/assignments: who has which role. */
import { type Assignment, findAssignment } from "../../../core/roles/assignments.store.ts";
import { assignRole, unassignRole } from "../../../core/roles/assignments.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, createRoute, deleteRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { assignmentFields, listAssignmentPage } from "./role-lists.store.ts";
import { assignmentRecord, assignmentSchema, newAssignment, toRoleAnswer } from "./role-record.ts";

const example = {
  applicationId: "01998d70-5c1e-7d3a-8a4b-6f0e2d9c7b15",
  roleKey: "editor",
  subjectType: "group",
  subjectId: "01998d71-0b2f-7c44-9d5e-3a1f7e8b9c20",
};

export function apiAssignmentsRoutes(api: ApiScope, deps: ApiDeps): void {
  const assignments: ApiResource<Assignment> = {
    ...{ api, deps, tag: "API v1: roles", one: "assignment", many: "assignments" },
    reads: ["signet:roles:read"],
    writes: ["signet:roles:write"],
    schema: assignmentSchema,
    record: assignmentRecord,
    toAnswer: toRoleAnswer,
  };
  listRoute(
    assignments,
    "/api/v1/organisations/:org/assignments",
    { operationId: "apiListAssignments", summary: "List who has which role", fields: assignmentFields },
    ({ orgId, list }) => listAssignmentPage(deps.database.query, orgId, list),
  );
  getRoute(
    assignments,
    "/api/v1/organisations/:org/assignments/:id",
    { operationId: "apiReadAssignment", summary: "Get an assignment" },
    ({ orgId, id }) => findAssignment(deps.database.query, { orgId, id }),
  );
  createRoute(
    assignments,
    "/api/v1/organisations/:org/assignments",
    {
      operationId: "apiAssignRole",
      summary: "Give a role to a user, a group, an application or a system account",
      body: newAssignment,
      example,
      errors: [409],
    },
    async (inside, { caller, body }) => {
      const { roleId, applicationId, roleKey, subjectType, subjectId } = body;
      const role = {
        ...(roleId === undefined ? {} : { roleId: roleId.toLowerCase() }),
        ...(applicationId === undefined ? {} : { applicationId: applicationId.toLowerCase() }),
        ...(roleKey === undefined ? {} : { roleKey }),
      };
      const subject = { subjectType, subjectId: subjectId.toLowerCase() };
      return { row: await assignRole(inside, { ...actOf(caller), role, ...subject }) };
    },
  );
  deleteRoute(
    assignments,
    "/api/v1/organisations/:org/assignments/:id",
    { operationId: "apiUnassignRole", summary: "Take a role away, at once", done: "Taken away" },
    (inside, { caller, id, check }) => unassignRole(inside, { ...actOf(caller), id, check }),
  );
}
