/** Initial access tokens: with them clients register themselves (RFC 7591; modern-oauth.md §6). */
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
import { requireMatch } from "../../../http/api/concurrency.ts";
import { pageQuerySchema } from "../../../http/api/paging.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { readWireTime, wireTime } from "../../../http/api/times.ts";
import { by, inTransaction, invalidMembers, type ManagementDeps } from "../management.ts";
import {
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  type ResourceRoutes,
  replaceRoute,
} from "../resource-routes.ts";

const content = (title: string) =>
  strictObject(Type.Partial(strictObject(initialAccessTokenMembers)).properties, { title });
const schema = Type.Object(initialAccessTokenRecordMembers, { title: "InitialAccessToken" });
const schemaWithToken = Type.Object(
  { ...initialAccessTokenRecordMembers, token: shownToken },
  { title: "InitialAccessTokenWithToken" },
);

export function initialAccessTokensRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const tokens: ResourceRoutes<InitialAccessToken> = {
    ...{ api, deps, tag: "Unregistered clients", one: "initial access token", many: "initial access tokens" },
    ...{ schema, toAnswer },
    record: (token) => initialAccessTokenRecord(token, wireTime),
  };
  listRoute(
    tokens,
    "/legacy/api/oauth/initial-access-tokens",
    {
      ...{ operationId: "listInitialAccessTokens", query: pageQuerySchema },
      summary: "List initial access tokens, oldest first",
    },
    // Their number is bounded.
    async (orgId, { after = "" }) =>
      (await listInitialAccessTokens(db, orgId)).filter(({ id }) => id > after),
  );
  getRoute(
    tokens,
    "/legacy/api/oauth/initial-access-tokens/:id",
    { operationId: "getInitialAccessToken", summary: "Get an initial access token" },
    (orgId, id) => findInitialAccessToken(db, { orgId, id }),
  );
  writeRoutes(tokens, deps);
}

function writeRoutes(tokens: ResourceRoutes<InitialAccessToken>, deps: ManagementDeps): void {
  const times = () => ({ now: deps.clock(), readTime: readWireTime });
  createRoute(
    tokens,
    "/legacy/api/oauth/initial-access-tokens",
    {
      ...{ operationId: "createInitialAccessToken", summary: "Create an initial access token" },
      ...{ body: content("NewInitialAccessToken"), created: schemaWithToken },
      ...{ bodyOptional: true, example: { label: "Agents", maxUses: 10 } },
    },
    async (inside, { caller, body }) => {
      const settings = initialAccessTokenSettings(body ?? {}, times());
      const act = { orgId: caller.organisation.id, ...by(caller) };
      const { record, token } = await createInitialAccessToken(inside, { ...act, settings });
      return { row: record, members: { token }, shownOnce: ["token"] };
    },
  );
  replaceRoute(
    tokens,
    "/legacy/api/oauth/initial-access-tokens/:id",
    {
      ...{ operationId: "replaceInitialAccessToken", summary: "Replace an initial access token" },
      ...{ body: content("ChangedInitialAccessToken"), readOnly: ["id", "uses", "createdAt"] },
      example: { label: "Agents", enabled: false },
    },
    (key, { body, request }) =>
      inTransaction(deps, undefined, (inside) =>
        changeInitialAccessToken(inside, {
          ...key,
          check: ({ version }) => requireMatch(request, version),
          // All of it: what is left out is the default.
          change: ({ createdAt }) => initialAccessTokenSettings(body, { ...times(), now: createdAt }),
        }),
      ),
  );
  deleteRoute(
    tokens,
    "/legacy/api/oauth/initial-access-tokens/:id",
    {
      operationId: "deleteInitialAccessToken",
      summary: "Delete an initial access token: clients that have registered by it stay",
    },
    (key, { request }) =>
      inTransaction(deps, undefined, (inside) =>
        deleteInitialAccessToken(inside, { ...key, check: ({ version }) => requireMatch(request, version) }),
      ),
  );
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidInitialAccessToken) throw invalidMembers(error.faults);
  if (error instanceof TooManyInitialAccessTokens)
    throw conflict(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
  throw error;
}
