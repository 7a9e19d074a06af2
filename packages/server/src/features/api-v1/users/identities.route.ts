/** DELETE /api/v1/organisations/{org}/users/{id}/identities/{connectionId}: ends a user's sign-in by a connection. */
import type { NamedIdentity } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { LastWayIn, unlinkIdentity } from "../../../core/connections/sign-in/unlink-identity.ts";
import { conflict } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, deleteRoute } from "../frame/resource-routes.ts";
import { requireMayManage } from "./change-user.ts";
import { userSchema } from "./user-record.ts";
import { namedUser } from "./user-sessions.route.ts";

export function apiIdentitiesRoutes(api: ApiScope, deps: ApiDeps): void {
  const identities: ApiResource<NamedIdentity> = {
    ...{ api, deps, tag: "API v1: users", one: "identity", many: "identities" },
    reads: ["signet:users:read"],
    writes: ["signet:users:write"],
    schema: userSchema,
    record: ({ connectionId, subject }) => ({ id: connectionId, connectionId, subject }),
    idParameter: "connectionId",
    toAnswer: (error) => {
      if (error instanceof LastWayIn)
        throw conflict("The user has no password, no passkey and no other connection to sign in with.");
      throw error;
    },
  };
  deleteRoute(
    identities,
    "/api/v1/organisations/:org/users/:id/identities/:connectionId",
    {
      operationId: "unlinkIdentity",
      summary: "Unlink a user from a connection for signing in",
      done: "Unlinked",
    },
    async (inside, call) => {
      const user = await namedUser(inside, call);
      requireMayManage(call.caller, user.role);
      return unlinkIdentity(inside, { ...actOf(call.caller), userId: user.id, connectionId: call.id });
    },
  );
}
