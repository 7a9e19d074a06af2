/** /api/v1/organisations/{org}/initial-access-tokens: with them clients register themselves (modern-oauth.md §5, §6). */
import Type from "typebox";
import {
  type InitialAccessToken,
  InvalidInitialAccessToken,
  TooManyInitialAccessTokens,
} from "../../../core/client-registration/initial-access-token.ts";
import {
  initialAccessTokenMembers,
  initialAccessTokenRecord,
  initialAccessTokenRecordMembers,
  initialAccessTokenSettings,
  shownToken,
} from "../../../core/client-registration/initial-access-token-schemas.ts";
import {
  findInitialAccessToken,
  listInitialAccessTokens,
} from "../../../core/client-registration/initial-access-tokens.store.ts";
import {
  changeInitialAccessToken,
  createInitialAccessToken,
  deleteInitialAccessToken,
} from "../../../core/client-registration/initial-access-tokens.ts";
import { conflict } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { readWireTime, wireTime } from "../../../http/api/times.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { invalidMembers } from "../frame/member-faults.ts";
import { patchSchema } from "../frame/patch-schema.ts";
import {
  type ApiResource,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
} from "../frame/resource-routes.ts";
import { memoryFields } from "../lists/list-fields.ts";
import { memoryPage } from "../lists/memory-list.ts";

const newToken = patchSchema(initialAccessTokenMembers, { title: "ApiNewInitialAccessToken" });
const tokenPatch = patchSchema(initialAccessTokenMembers, { title: "ApiInitialAccessTokenChange" });
const members = { ...initialAccessTokenRecordMembers, updatedAt: Type.String({ format: "date-time" }) };
const schema = Type.Object(members, { title: "ApiInitialAccessToken" });
const schemaWithToken = Type.Object(
  { ...members, token: shownToken },
  { title: "ApiInitialAccessTokenWithToken" },
);
const fields = memoryFields({
  ...({ id: "text", label: "text", enabled: "boolean", maxUses: "number", uses: "number" } as const),
  ...({ expiresAt: "time", createdAt: "time", updatedAt: "time" } as const),
});

const record = (token: InitialAccessToken) => ({
  ...initialAccessTokenRecord(token, wireTime),
  updatedAt: wireTime(token.updatedAt),
});

export function apiInitialAccessTokensRoutes(api: ApiScope, deps: ApiDeps): void {
  const tokens: ApiResource<InitialAccessToken> = {
    ...{ api, deps, tag: "API v1: unregistered clients" },
    ...{ one: "initial access token", many: "initial access tokens", schema, record, toAnswer },
    ...{ reads: ["signet:applications:read"], writes: ["signet:applications:write"] },
    // Each client that registers by it counts.
    volatile: ["uses"],
  };
  listRoute(
    tokens,
    "/api/v1/organisations/:org/initial-access-tokens",
    {
      ...{ operationId: "apiListInitialAccessTokens", summary: "List the initial access tokens", fields },
      description: "Those that have expired stay for 30 days.",
    },
    async ({ orgId, list }) =>
      memoryPage(list, await listInitialAccessTokens(deps.database.query, orgId), { fields, record }),
  );
  getRoute(
    tokens,
    "/api/v1/organisations/:org/initial-access-tokens/:id",
    { operationId: "apiReadInitialAccessToken", summary: "Get an initial access token" },
    ({ orgId, id }) => findInitialAccessToken(deps.database.query, { orgId, id }),
  );
  writeRoutes(tokens);
}

function writeRoutes(tokens: ApiResource<InitialAccessToken>): void {
  createRoute(
    tokens,
    "/api/v1/organisations/:org/initial-access-tokens",
    {
      ...{ operationId: "apiCreateInitialAccessToken", summary: "Create an initial access token" },
      ...{ body: newToken, bodyOptional: true, created: schemaWithToken, errors: [409] },
      example: { label: "Agents", allowedScopes: ["openid", "offline_access"], maxUses: 10 },
      description:
        "With the token in `token`, once, a client registers at the `registration_endpoint` of discovery.",
    },
    async (inside, { caller, body }) => {
      const times = { now: inside.clock(), readTime: readWireTime };
      const settings = initialAccessTokenSettings(body ?? {}, times);
      const created = await createInitialAccessToken(inside, { ...actOf(caller), settings });
      return { row: created.record, members: { token: created.token }, shownOnce: ["token"] };
    },
  );
  patchRoute(
    tokens,
    "/api/v1/organisations/:org/initial-access-tokens/:id",
    {
      ...{ operationId: "apiChangeInitialAccessToken", summary: "Change an initial access token" },
      ...{ body: tokenPatch, example: { enabled: false } },
      description: "Clients that have registered by it stay as they are.",
    },
    (inside, { caller, id, check, patch }) =>
      changeInitialAccessToken(inside, {
        ...{ ...actOf(caller), id, check },
        change: (before) =>
          initialAccessTokenSettings(patch, { now: inside.clock(), readTime: readWireTime }, before),
      }),
  );
  deleteRoute(
    tokens,
    "/api/v1/organisations/:org/initial-access-tokens/:id",
    {
      operationId: "apiDeleteInitialAccessToken",
      summary: "Delete an initial access token: clients that have registered by it stay",
    },
    (inside, { caller, id, check }) => deleteInitialAccessToken(inside, { ...actOf(caller), id, check }),
  );
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidInitialAccessToken) throw invalidMembers(error.faults);
  if (!(error instanceof TooManyInitialAccessTokens)) throw error;
  throw conflict(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
}
