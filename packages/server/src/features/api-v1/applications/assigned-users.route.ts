/** The users of an application whose access is `assigned`. */
import { assignUser, unassignUser } from "../../../core/application-access/application-access.ts";
import { notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { noParameters } from "../../../http/api/schemas.ts";
import { actOf, apiAuthenticator } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { listAssignedUsersRoute } from "./assigned-list.ts";

const shared = {
  tag: "API v1: applications",
  credential: "access-token",
  query: noParameters,
  description: "Scope: `signet:applications:write`.",
} as const;

const idsOf = (params: Readonly<Record<string, string>>) => ({
  applicationId: idOf(params),
  userId: idOf(params, "userId"),
});

export function apiAssignedUsersRoutes(api: ApiScope, deps: ApiDeps): void {
  listAssignedUsersRoute(api, deps);
  apiRoute(api, {
    ...shared,
    method: "PUT",
    path: "/api/v1/organisations/:org/applications/:id/users/:userId",
    operationId: "apiAssignUser",
    summary: "Let a user use an application whose access is limited to assigned users",
    answers: { 204: { description: "Assigned" } },
    authenticator: apiAuthenticator(deps, "signet:applications:write"),
    handler: async ({ caller, params }) => {
      const outcome = await assignUser(deps, { ...actOf(caller), ...idsOf(params) });
      if (typeof outcome === "string") throw notFound();
      return { status: 204 };
    },
  });
  apiRoute(api, {
    ...shared,
    method: "DELETE",
    path: "/api/v1/organisations/:org/applications/:id/users/:userId",
    operationId: "apiUnassignUser",
    summary: "Take an assigned user's access, and what the user has there, at once",
    answers: { 204: { description: "Unassigned" } },
    authenticator: apiAuthenticator(deps, "signet:applications:write"),
    handler: async ({ caller, params }) => {
      if (!(await unassignUser(deps, { ...actOf(caller), ...idsOf(params) }))) throw notFound();
      return { status: 204 };
    },
  });
}
