/** /api/v1/organisations/{org}/users/{id}: a user of the organisation, or a guest. */
import type { CoreDeps } from "../../../core/core-deps.ts";
import { LastAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import type { User } from "../../../core/users/user.ts";
import { UsernameTaken } from "../../../core/users/username.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { boundTo } from "../../../db/open.ts";
import { ApiError, conflict, notFound } from "../../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute, readRoute } from "../../../http/api/api-route.ts";
import { isUnchanged, requireTag } from "../../../http/api/concurrency.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { noParameters } from "../../../http/api/schemas.ts";
import { type ApiAccessDeps, apiAuthenticator } from "../access.ts";
import { changeUser, type UserPatch, userPatch } from "./change-user.ts";
import { userRecord, userSchema, userTag } from "./user-record.ts";

const shared = {
  tag: "Users",
  credential: "access-token",
  path: "/api/v1/organisations/:org/users/:id",
  query: noParameters,
} as const;

export function apiUsersRoutes(api: ApiScope, deps: ApiAccessDeps): void {
  readRoute(api, {
    ...shared,
    operationId: "readUser",
    summary: "Get a user",
    description: "Scope: `signet:users:read`.",
    answers: { 200: { description: "The user", schema: userSchema }, 304: { description: "Unchanged" } },
    authenticator: apiAuthenticator(deps, "signet:users:read"),
    handler: async ({ caller, params, request }) => {
      const user = await findUser(deps.database.query, caller.organisation.id, idOf(params));
      if (!user) throw notFound();
      const answer = await answerWith(deps, user);
      return isUnchanged(request, answer.headers.etag) ? { ...answer, status: 304, body: undefined } : answer;
    },
  });
  apiRoute(api, {
    ...shared,
    method: "PATCH",
    operationId: "changeUser",
    summary: "Change a user",
    description:
      "Scope: `signet:users:write`; for an administrator `signet:organisation:write` too. JSON Merge Patch (RFC 7396): null unsets a member.",
    body: userPatch,
    example: { nickname: "Gracie", address: { locality: "Bristol", country: "United Kingdom" } },
    answers: { 200: { description: "The changed user", schema: userSchema } },
    authenticator: apiAuthenticator(deps, "signet:users:write"),
    handler: async ({ caller, params, request, body }) => {
      const id = idOf(params);
      const { database } = deps;
      return database
        .transaction(async (tx) => {
          const inside = { ...deps, database: boundTo(database, tx) };
          const check = async (user: User) =>
            requireTag(request, (await answerWith(inside, user)).headers.etag);
          const user = await changeUser(inside, caller, { id, patch: body as UserPatch, check });
          return answerWith(inside, user);
        })
        .catch(toApiError);
    },
  });
}

async function answerWith({ database, clock }: CoreDeps, user: User) {
  const record = await userRecord(database.query, user, clock());
  return { status: 200, body: record, headers: { etag: userTag(record) } } satisfies Answer;
}

function toApiError(error: unknown): never {
  if (error instanceof UsernameTaken) throw conflict("The username belongs to another user.");
  if (error instanceof LastAdministrator)
    throw new ApiError(409, "last-administrator", "The organisation would have no administrator");
  throw error;
}
