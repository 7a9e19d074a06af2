/** /api/v1/organisations/{org}/authorization-detail-types: what APIs may be asked for in detail (RFC 9396). */
import type { DetailType } from "../../../core/authorization-details/detail-type.ts";
import {
  findDetailType,
  listDetailTypes,
  lockDetailType,
} from "../../../core/authorization-details/detail-types.store.ts";
import {
  changeDetailType,
  createDetailType,
  DetailTypeConflict,
  deleteDetailType,
  InvalidDetailType,
} from "../../../core/authorization-details/detail-types.ts";
import { conflict } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { stale } from "../../../http/api/concurrency.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { invalidMembers } from "../frame/member-faults.ts";
import {
  type ApiResource,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
  type RecordCall,
} from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import {
  changedContent,
  detailTypeFields,
  detailTypePatch,
  detailTypeRecord,
  detailTypeSchema,
  newDetailType,
} from "./detail-type-record.ts";

const example = {
  type: "account_information",
  displayName: "Account information",
  template: "See {actions} of account {account}",
  schema: {
    type: "object",
    required: ["actions", "account"],
    properties: {
      actions: { type: "array", items: { enum: ["balances", "transactions"] } },
      account: { type: "string", maxLength: 34 },
    },
    additionalProperties: false,
  },
};

export function apiDetailTypesRoutes(api: ApiScope, deps: ApiDeps): void {
  const types: ApiResource<DetailType> = {
    ...{ api, deps, tag: "API v1: authorization details" },
    one: "type of authorization details",
    many: "types of authorization details",
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
    schema: detailTypeSchema,
    record: detailTypeRecord,
    toAnswer,
  };
  listRoute(
    types,
    "/api/v1/organisations/:org/authorization-detail-types",
    {
      operationId: "apiListAuthorizationDetailTypes",
      summary: "List types of authorization details",
      fields: detailTypeFields,
    },
    // An organisation has at most a hundred.
    async ({ orgId, list }) =>
      memoryPage(list, await listDetailTypes(deps.database.query, orgId), {
        fields: detailTypeFields,
        record: detailTypeRecord,
      }),
  );
  getRoute(
    types,
    "/api/v1/organisations/:org/authorization-detail-types/:id",
    { operationId: "apiReadAuthorizationDetailType", summary: "Get a type of authorization details" },
    ({ orgId, id }) => findDetailType(deps.database.query, orgId, id),
  );
  createRoute(
    types,
    "/api/v1/organisations/:org/authorization-detail-types",
    {
      operationId: "apiCreateAuthorizationDetailType",
      summary: "Create a type of authorization details (RFC 9396)",
      body: newDetailType,
      example,
    },
    async (inside, { caller, body }) => {
      const { resource = null, enabled = true, ...content } = body;
      return { row: await createDetailType(inside, { ...actOf(caller), ...content, resource, enabled }) };
    },
  );
  changeRoutes(types);
}

function changeRoutes(types: ApiResource<DetailType>): void {
  patchRoute(
    types,
    "/api/v1/organisations/:org/authorization-detail-types/:id",
    {
      operationId: "apiChangeAuthorizationDetailType",
      summary: "Change a type of authorization details, except what requests call it",
      body: detailTypePatch,
      example: { enabled: false },
    },
    async (inside, call) => {
      const type = await lockedType(inside, call);
      if (!type) return undefined;
      const { caller, id, patch } = call;
      return changeDetailType(inside, { ...actOf(caller), id, content: changedContent(patch) });
    },
  );
  deleteRoute(
    types,
    "/api/v1/organisations/:org/authorization-detail-types/:id",
    {
      operationId: "apiDeleteAuthorizationDetailType",
      summary: "Delete a type of authorization details: new and refreshed tokens have none of it",
    },
    async (inside, call) => {
      const type = await lockedType(inside, call);
      return type !== undefined && deleteDetailType(inside, { ...actOf(call.caller), id: call.id });
    },
  );
}

/** @throws ApiError 412 */
async function lockedType(
  { database: { query } }: ApiDeps,
  { orgId, id, check }: RecordCall<DetailType>,
): Promise<DetailType | undefined> {
  await lockDetailType(query, { orgId, id });
  const type = await findDetailType(query, orgId, id);
  if (type) await check(type);
  return type;
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidDetailType) throw invalidMembers(error.faults);
  if (!(error instanceof DetailTypeConflict)) throw error;
  throw error.code === "type-taken"
    ? conflict("The organisation has a type of authorization details with this name.")
    : stale();
}
