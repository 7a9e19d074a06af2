/** /api/v1/organisations/{org}/break-glass: the administrators who may sign in past an enforced connection. */

import {
  type BreakGlassAccount,
  listBreakGlassAccounts,
} from "../../../core/break-glass/break-glass.store.ts";
import {
  grantBreakGlass,
  InvalidBreakGlass,
  withdrawBreakGlass,
} from "../../../core/break-glass/break-glass.ts";
import { conflict, invalid, notFound } from "../../../http/api/api-error.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { noParameters } from "../../../http/api/schemas.ts";
import { actOf, apiAuthenticator } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, listRoute } from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import { breakGlassFields, breakGlassRecord, breakGlassSchema } from "./domain-record.ts";

export function apiBreakGlassRoutes(api: ApiScope, deps: ApiDeps): void {
  const accounts: ApiResource<BreakGlassAccount> = {
    ...{ api, deps, tag: "API v1: domains", one: "administrator", many: "administrators" },
    reads: ["signet:connections:read"],
    writes: ["signet:connections:write"],
    ...{ schema: breakGlassSchema, record: breakGlassRecord },
  };
  listRoute(
    accounts,
    "/api/v1/organisations/:org/break-glass",
    {
      operationId: "apiListBreakGlass",
      summary: "List the break-glass administrators",
      fields: breakGlassFields,
    },
    async ({ orgId, list }) =>
      memoryPage(list, await listBreakGlassAccounts(deps.database.query, orgId), {
        ...{ fields: breakGlassFields, record: breakGlassRecord },
      }),
  );
  const shared = {
    credential: "access-token",
    ...{ tag: accounts.tag, query: noParameters, errors: [409] },
    description: "Scope: `signet:connections:write`.",
    authenticator: apiAuthenticator(deps, "signet:connections:write"),
    path: "/api/v1/organisations/:org/break-glass/:permId",
  } as const;
  apiRoute(api, {
    ...{ ...shared, method: "PUT", errors: [409, 422] },
    ...{
      operationId: "apiGrantBreakGlass",
      summary: "Let an administrator sign in past an enforced connection",
    },
    answers: { 204: { description: "They may, whether they could before or not" } },
    handler: async ({ caller, params }) => {
      await grantBreakGlass(deps, { ...actOf(caller), userId: idOf(params, "permId") }).catch(toAnswer);
      return { status: 204 };
    },
  });
  apiRoute(api, {
    ...{ ...shared, method: "DELETE" },
    ...{ operationId: "apiWithdrawBreakGlass", summary: "End that" },
    answers: { 204: { description: "They may not" } },
    handler: async ({ caller, params }) => {
      const act = { ...actOf(caller), userId: idOf(params, "permId") };
      if (!(await withdrawBreakGlass(deps, act).catch(toAnswer))) throw notFound();
      return { status: 204 };
    },
  });
}

function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidBreakGlass)) throw error;
  if (error.code === "unknown-user") throw notFound();
  const message = `The user ${error.message}.`;
  if (error.code === "last") throw conflict(message);
  if (error.code === "too-many")
    throw conflict(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`);
  throw invalid([{ path: "", message }]);
}
