/** GET User/{userId}/ServiceSessions: the active session keys of a user, for the applications that the account may act for. */
import { isUuid } from "@signet/protocol/hash";
import Type from "typebox";
import { sessionKeyKinds } from "../../../core/session-keys/session-key.ts";
import { listServiceSessions } from "../../../core/session-keys/session-keys.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { pageOf, pageQuerySchema, pageSchema, readPage } from "../../../http/api/paging.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";
import type { LegacyDeps } from "../legacy-deps.ts";

const time = Type.String({ format: "date-time" });
const session = Type.Object(
  {
    Id: Type.String({ format: "uuid" }),
    ApplicationId: Type.String({ format: "uuid" }),
    Kind: Type.Union(sessionKeyKinds.map((kind) => Type.Literal(kind))),
    CreatedAt: time,
    LastSeenAt: time,
    ExpiresAt: Type.Union([time, Type.Null()]),
  },
  { title: "ServiceSession" },
);

export function serviceSessionsRoute(api: ApiScope, deps: LegacyDeps): void {
  apiRoute(api, {
    method: "GET",
    path: "/legacy/api/User/:userId/ServiceSessions",
    operationId: "listServiceSessions",
    summary: "List the active session keys of a user",
    tag: "Users",
    credential: "system-account",
    query: pageQuerySchema,
    answers: { 200: { description: "Oldest first", schema: pageSchema(session) } },
    authenticator: deps.accountAuthenticator,
    handler: async ({ caller: { organisation, account }, params, query }) => {
      const page = readPage(query);
      const userId = (params["userId"] ?? "").toLowerCase();
      const user = isUuid(userId) && (await findUser(deps.database.query, organisation.id, userId));
      if (!user) throw notFound();
      const applicationIds = [account.applicationId, ...account.permissions];
      const keys = await listServiceSessions(deps, { orgId: organisation.id, userId, applicationIds }, page);
      const { items, nextCursor } = pageOf(keys, page);
      const records = items.map((key) => ({
        Id: key.id,
        ApplicationId: key.applicationId,
        Kind: key.kind,
        CreatedAt: wireTime(key.createdAt),
        LastSeenAt: wireTime(key.lastSeenAt),
        ExpiresAt: wireTimeOrNull(key.expiresAt),
      }));
      return { status: 200, body: { items: records, nextCursor } };
    },
  });
}
