/** /api/v1/organisations/{org}/roles: roles of applications, and of the organisation. */
import type { Role } from "../../../core/roles/role.ts";
import { findRole } from "../../../core/roles/roles.store.ts";
import { changeRole, createRole, deleteRole } from "../../../core/roles/roles.ts";
import { invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import {
  type ApiResource,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
} from "../frame/resource-routes.ts";
import { listRolePage, roleFields } from "./role-lists.store.ts";
import { newRole, rolePatch, roleRecord, roleSchema, toRoleAnswer } from "./role-record.ts";

const example = { key: "editor", name: "Editor", permissions: ["invoice:read", "invoice:write"] };

export function apiRolesRoutes(api: ApiScope, deps: ApiDeps): void {
  const roles: ApiResource<Role> = {
    ...{ api, deps, tag: "API v1: roles", one: "role", many: "roles" },
    reads: ["signet:roles:read"],
    writes: ["signet:roles:write"],
    schema: roleSchema,
    record: roleRecord,
    toAnswer: toRoleAnswer,
  };
  listRoute(
    roles,
    "/api/v1/organisations/:org/roles",
    { operationId: "apiListRoles", summary: "List roles", fields: roleFields },
    ({ orgId, list }) => listRolePage(deps.database.query, orgId, list),
  );
  getRoute(
    roles,
    "/api/v1/organisations/:org/roles/:id",
    { operationId: "apiReadRole", summary: "Get a role" },
    ({ orgId, id }) => findRole(deps.database.query, { orgId, id }),
  );
  createRoute(
    roles,
    "/api/v1/organisations/:org/roles",
    { operationId: "apiCreateRole", summary: "Create a role", body: newRole, example, errors: [409] },
    async (inside, { caller, body }) => {
      const { applicationId, key, name = key, description = null, permissions = [] } = body;
      const content = { name, description, permissions };
      const of = { applicationId: applicationId?.toLowerCase() ?? null, key };
      return { row: await createRole(inside, { ...actOf(caller), ...of, content }) };
    },
  );
  changeRoutes(roles);
}

function changeRoutes(roles: ApiResource<Role>): void {
  patchRoute(
    roles,
    "/api/v1/organisations/:org/roles/:id",
    {
      operationId: "apiChangeRole",
      summary: "Change a role, except its application and key",
      body: rolePatch,
      example: { permissions: ["invoice:read"] },
      errors: [409],
    },
    (inside, { caller, id, check, patch }) => {
      const { name, description, permissions } = patch;
      if (name === null) throw invalid([{ path: "/name", message: "cannot be unset" }]);
      const content = {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
        ...(permissions === undefined ? {} : { permissions: permissions ?? [] }),
      };
      return changeRole(inside, { ...actOf(caller), id, check, content });
    },
  );
  deleteRoute(
    roles,
    "/api/v1/organisations/:org/roles/:id",
    {
      operationId: "apiDeleteRole",
      summary: "Delete a role: whoever has it loses it at once",
      errors: [409],
    },
    (inside, { caller, id, check }) => deleteRole(inside, { ...actOf(caller), id, check }),
  );
}
