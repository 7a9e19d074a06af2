/** /api/v1/organisations/{org}/users: the organisation's users and guests. */
import { withPrecomputedHash } from "../../../core/passwords/password-hasher.ts";
import { deleteUser, leaveOrganisation } from "../../../core/users/leaving/delete-user.ts";
import {
  LastAdministrator,
  LastBreakGlassAdministrator,
} from "../../../core/users/leaving/last-administrator.ts";
import { lockUser } from "../../../core/users/lock-user.ts";
import { UsernameTaken } from "../../../core/users/username.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { InvalidUser } from "../../../core/users/users.ts";
import { ApiError, conflict } from "../../../http/api/api-error.ts";
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
import { changeUser, requireMayManage, type UserPatch, userPatch } from "./change-user.ts";
import { createApiUser, newUser, toAccountFault } from "./new-user.ts";
import { userActRoutes } from "./user-acts.ts";
import { readUserRecord, type ShownUser, userSchema } from "./user-record.ts";
import { listUserPage, userListFields } from "./users-list.store.ts";

const forAdministrators = "For an administrator `signet:organisation:write` too.";

export function apiUsersRoutes(api: ApiScope, deps: ApiDeps): void {
  const users: ApiResource<ShownUser> = {
    ...{ api, deps, tag: "API v1: users", one: "user", many: "users" },
    reads: ["signet:users:read"],
    writes: ["signet:users:write"],
    schema: userSchema,
    record: readUserRecord,
    volatile: ["lastSignInAt"],
    toAnswer: toApiError,
  };
  listRoute(
    users,
    "/api/v1/organisations/:org/users",
    { operationId: "apiListUsers", summary: "List users and guests", fields: userListFields, search: true },
    ({ orgId, list }) => listUserPage(deps.database.query, orgId, list, deps.clock()),
  );
  getRoute(
    users,
    "/api/v1/organisations/:org/users/:id",
    { operationId: "readUser", summary: "Get a user" },
    ({ orgId, id }) => findUser(deps.database.query, orgId, id),
  );
  createRoute(
    users,
    "/api/v1/organisations/:org/users",
    {
      operationId: "apiCreateUser",
      summary: "Create a user, with a password, an invitation or neither yet",
      description: forAdministrators,
      body: newUser,
      example: { email: "grace@example.com", firstname: "Grace", surname: "Hopper", sendInvitation: true },
      errors: [403],
      prepare: ({ orgId, body: { password } }) => withPrecomputedHash(deps.passwords, password, orgId),
    },
    async (inside, { caller, body, prepared: passwords }) => ({
      row: await createApiUser({ ...inside, passwords }, caller, body),
    }),
  );
  changeRoutes(users);
  userActRoutes(users);
}

function changeRoutes(users: ApiResource<ShownUser>): void {
  patchRoute(
    users,
    "/api/v1/organisations/:org/users/:id",
    {
      operationId: "changeUser",
      summary: "Change a user",
      description: forAdministrators,
      body: userPatch,
      example: { nickname: "Gracie", address: { locality: "Bristol", country: "United Kingdom" } },
    },
    (inside, { caller, id, patch, check }) =>
      changeUser(inside, caller, { id, patch: patch as UserPatch, check }),
  );
  deleteRoute(
    users,
    "/api/v1/organisations/:org/users/:id",
    {
      operationId: "apiDeleteUser",
      summary: "Delete a user, or end a guest's membership",
      description: forAdministrators,
    },
    async (inside, { caller, orgId, id, check }) => {
      const user = await lockUser(inside, { orgId, id });
      if (!user) return false;
      await check(user);
      requireMayManage(caller, user.role);
      const leaving = { ...actOf(caller), id };
      return user.homeOrgId === orgId ? deleteUser(inside, leaving) : leaveOrganisation(inside, leaving);
    },
  );
}

function toApiError(error: unknown): never {
  if (error instanceof InvalidUser) throw toAccountFault(error);
  if (error instanceof UsernameTaken) throw conflict("The username belongs to another user.");
  if (error instanceof LastBreakGlassAdministrator)
    throw conflict("The organisation would have no break-glass administrator for its enforced domains.");
  if (error instanceof LastAdministrator)
    throw new ApiError(409, "last-administrator", "The organisation would have no administrator");
  throw error;
}
