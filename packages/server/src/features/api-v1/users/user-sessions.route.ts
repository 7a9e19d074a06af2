/** /api/v1/organisations/{org}/users/{id}/sessions: where a user is signed in. */
import Type, { type TSchema } from "typebox";
import { endUserSession, listUserSessions } from "../../../core/sessions/end-sessions.ts";
import type { SessionRecord } from "../../../core/sessions/sessions.store.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { wireTime } from "../../../http/api/times.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiCall, type ApiResource, deleteRoute, listRoute } from "../frame/resource-routes.ts";
import { memoryFields } from "../lists/list-fields.ts";
import { memoryPage } from "../lists/memory-list.ts";
import { requireMayManage } from "./change-user.ts";

const time = () => Type.String({ format: "date-time" });

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const sessionSchema = Type.Object(
  {
    id: Type.String({ description: "The `sid` of tokens" }),
    authTime: time(),
    amr: Type.Array(Type.String()),
    acr: Type.String(),
    address: Type.String(),
    userAgent: Type.String(),
    applications: Type.Array(Type.String({ description: "The name of an application with tokens" })),
    deviceBound: Type.Boolean({
      description: "Bound to a key of the browser's machine (Device Bound Session Credentials)",
    }),
    boundAt: nullable(time()),
    deviceId: nullable(Type.String({ format: "uuid", description: "The device that it ends with" })),
    lastSeenAt: time(),
    expiresAt: time(),
    createdAt: time(),
    updatedAt: time(),
  },
  { title: "ApiSession" },
);

const fields = memoryFields({
  ...({ id: "text", acr: "text", address: "text", userAgent: "text" } as const),
  ...({ authTime: "time", lastSeenAt: "time", expiresAt: "time" } as const),
  ...({ deviceBound: "boolean", boundAt: "time", deviceId: "text" } as const),
  ...({ createdAt: "time", updatedAt: "time" } as const),
});

const sessionRecord = (session: SessionRecord) => ({
  id: session.id,
  authTime: wireTime(session.authTime),
  amr: session.amr,
  acr: session.acr,
  address: session.address,
  userAgent: session.userAgent,
  applications: session.applications,
  deviceBound: Boolean(session.boundKey),
  boundAt: session.boundAt ? wireTime(session.boundAt) : null,
  deviceId: session.deviceId ?? null,
  lastSeenAt: wireTime(session.lastSeenAt),
  expiresAt: wireTime(session.expiresAt),
  createdAt: wireTime(session.createdAt),
  updatedAt: wireTime(session.authTime),
});

export function apiUserSessionsRoutes(api: ApiScope, deps: ApiDeps): void {
  const sessions: ApiResource<SessionRecord> = {
    ...{ api, deps, tag: "API v1: users", one: "session", many: "sessions" },
    reads: ["signet:users:read"],
    writes: ["signet:users:write"],
    schema: sessionSchema,
    record: sessionRecord,
    idParameter: "sessionId",
  };
  listRoute(
    sessions,
    "/api/v1/organisations/:org/users/:id/sessions",
    { operationId: "apiListSessions", summary: "List the sessions of a user, a hundred at most", fields },
    async ({ list, ...call }) => {
      const { id } = await namedUser(deps, call);
      const rows = await listUserSessions(deps, call.caller.organisation, id);
      return memoryPage(list, rows, { fields, record: sessionRecord });
    },
  );
  deleteRoute(
    sessions,
    "/api/v1/organisations/:org/users/:id/sessions/:sessionId",
    { operationId: "apiEndSession", summary: "End a session, with its tokens", done: "Ended" },
    async (inside, call) => {
      const user = await namedUser(inside, call);
      requireMayManage(call.caller, user.role);
      return endUserSession(inside, { ...actOf(call.caller), userId: user.id, sessionId: call.id });
    },
  );
}

/** @throws ApiError 404 */
export async function namedUser(
  { database }: ApiDeps,
  { orgId, params }: Omit<ApiCall, "caller" | "request">,
) {
  const user = await findUser(database.query, orgId, idOf(params));
  if (!user) throw notFound();
  return user;
}
