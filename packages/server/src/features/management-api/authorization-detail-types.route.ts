/** Types of authorization details (RFC 9396) of the organisation. */
import type { DetailType } from "../../core/authorization-details/detail-type.ts";
import { findDetailType, listDetailTypes } from "../../core/authorization-details/detail-types.store.ts";
import {
  changeDetailType,
  createDetailType,
  DetailTypeConflict,
  deleteDetailType,
  InvalidDetailType,
} from "../../core/authorization-details/detail-types.ts";
import { conflict, invalid, notFound } from "../../http/api/api-error.ts";
import type { ApiScope } from "../../http/api/api-route.ts";
import { requireMatch, stale } from "../../http/api/concurrency.ts";
import { pageQuerySchema } from "../../http/api/paging.ts";
import {
  changedDetailTypeSchema,
  detailTypeContent,
  detailTypeRecord,
  detailTypeSchema,
  newDetailTypeSchema,
  readOnlyMembers,
} from "./detail-type-record.ts";
import { by, inTransaction, invalidMembers, type ManagementDeps } from "./management.ts";
import {
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  type RecordKey,
  type ResourceRoutes,
  replaceRoute,
  type WriteCall,
} from "./resource-routes.ts";

export const detailTypeExample = {
  type: "payment_initiation",
  displayName: "Payments",
  template: "Pay {amount.value} {amount.currency} to {creditor}",
  schema: {
    type: "object",
    required: ["amount", "creditor"],
    properties: {
      amount: {
        type: "object",
        required: ["value", "currency"],
        properties: {
          value: { type: "string", pattern: "^[0-9]{1,12}(\\.[0-9]{2})?$" },
          currency: { type: "string", enum: ["EUR", "DKK"] },
        },
        additionalProperties: false,
      },
      creditor: { type: "string", maxLength: 100 },
    },
    additionalProperties: false,
  },
};

export function detailTypesRoutes(api: ApiScope, deps: ManagementDeps): void {
  const { query: db } = deps.database;
  const types: ResourceRoutes<DetailType> = {
    ...{ api, deps, tag: "Authorization details" },
    one: "type of authorization details",
    many: "types of authorization details",
    schema: detailTypeSchema,
    record: detailTypeRecord,
    toAnswer,
  };
  listRoute(
    types,
    "/legacy/api/oauth/authorization-detail-types",
    {
      operationId: "listAuthorizationDetailTypes",
      summary: "List types of authorization details, oldest first",
      query: pageQuerySchema,
    },
    async (orgId, { after = "" }) => {
      // An organisation has at most a hundred.
      const all = await listDetailTypes(db, orgId);
      return all.filter(({ id }) => id > after);
    },
  );
  getRoute(
    types,
    "/legacy/api/oauth/authorization-detail-types/:id",
    { operationId: "getAuthorizationDetailType", summary: "Get a type of authorization details" },
    (orgId, id) => findDetailType(db, orgId, id),
  );
  writeRoutes(types, deps);
}

function writeRoutes(types: ResourceRoutes<DetailType>, deps: ManagementDeps): void {
  createRoute(
    types,
    "/legacy/api/oauth/authorization-detail-types",
    {
      operationId: "createAuthorizationDetailType",
      summary: "Create a type of authorization details (RFC 9396)",
      body: newDetailTypeSchema,
      example: detailTypeExample,
    },
    async (inside, { caller, body }) => {
      const content = { type: body.type, ...detailTypeContent(body) };
      const orgId = caller.organisation.id;
      return { row: await createDetailType(inside, { orgId, ...content, ...by(caller) }) };
    },
  );
  replaceRoute(
    types,
    "/legacy/api/oauth/authorization-detail-types/:id",
    {
      operationId: "replaceAuthorizationDetailType",
      summary: "Replace a type of authorization details, except what requests call it",
      body: changedDetailTypeSchema,
      readOnly: readOnlyMembers,
      example: detailTypeExample,
    },
    (key, call) =>
      inTransaction(deps, undefined, async (inside) => {
        const { type, version } = await currentType(inside, key, call);
        // Applications and grants refer to it.
        if (call.body.type !== undefined && call.body.type !== type)
          throw invalid([{ path: "/type", message: "cannot be changed: create another type" }]);
        return changeDetailType(inside, { ...key, version, content: detailTypeContent(call.body) });
      }),
  );
  deleteRoute(
    types,
    "/legacy/api/oauth/authorization-detail-types/:id",
    { operationId: "deleteAuthorizationDetailType", summary: "Delete a type of authorization details" },
    (key, call) =>
      inTransaction(deps, undefined, async (inside) => {
        const { version } = await currentType(inside, key, call);
        return deleteDetailType(inside, { ...key, version });
      }),
  );
}

/** @throws ApiError 404, 412 */
async function currentType(
  { database }: ManagementDeps,
  { orgId, id }: RecordKey,
  { request }: WriteCall<unknown>,
): Promise<DetailType> {
  const type = await findDetailType(database.query, orgId, id);
  if (!type) throw notFound();
  requireMatch(request, type.version);
  return type;
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidDetailType) throw invalidMembers(error.faults);
  if (!(error instanceof DetailTypeConflict)) throw error;
  throw error.code === "type-taken"
    ? conflict("The organisation has a type of authorization details with this name.")
    : stale();
}
