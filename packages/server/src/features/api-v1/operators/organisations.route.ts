/** /api/v1/organisations: how operators make, suspend and end organisations; GET /api/v1: where operators get their tokens. */
import type { FastifyInstance } from "fastify";
import Type from "typebox";
import type { DeviceCa } from "../../../core/device-ca/authority.ts";
import { findOperatorsOrganisation } from "../../../core/operators/operators.store.ts";
import { scheduleDeletion, undoDeletion } from "../../../core/organisations/deletion/deletion.ts";
import { issuerOf, type Organisation } from "../../../core/organisations/organisation.ts";
import { findOrganisation, lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { createOrganisation, setOrganisationStatus } from "../../../core/organisations/organisations.ts";
import { conflict } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { type DescribedOperation, problemAnswers } from "../../../http/api/described-operation.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { actOf, operatorAuthenticator } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import {
  type ApiResource,
  actRoute,
  createRoute,
  laterDeleteRoute,
  listRoute,
  type RecordCall,
} from "../frame/resource-routes.ts";
import {
  organisationRecord,
  organisationSchema,
  toOrganisationAnswer,
} from "../organisation/organisation.route.ts";
import { listOrganisationPage, organisationListFields } from "./organisations-list.store.ts";

export interface OperatorDeps extends ApiDeps {
  readonly deviceCa: DeviceCa;
}

const tag = "API v1: operators";
const newOrganisation = strictObject({ name: Type.String() }, { title: "ApiNewOrganisation" });

export function apiOperatorsRoutes(api: ApiScope, deps: OperatorDeps): void {
  const organisations: ApiResource<Organisation, OperatorDeps> = {
    ...{ api, deps, tag, one: "organisation", many: "organisations" },
    reads: ["signet:organisations:read"],
    writes: ["signet:organisations:write"],
    schema: organisationSchema,
    record: organisationRecord,
    idParameter: "org",
    authenticator: operatorAuthenticator,
    toAnswer: toOrganisationAnswer,
  };
  listRoute(
    organisations,
    "/api/v1/organisations",
    {
      ...{
        operationId: "apiListOrganisations",
        summary: "List the organisations, without the operators' own",
      },
      fields: organisationListFields,
    },
    ({ caller, list }) => listOrganisationPage(deps.database.query, caller.home.id, list),
  );
  createRoute(
    organisations,
    "/api/v1/organisations",
    {
      ...{ operationId: "apiCreateOrganisation", summary: "Create an organisation" },
      ...{ body: newOrganisation, example: { name: "Acme" } },
    },
    async (inside, { caller, body }) => {
      const { orgId: _, ...by } = actOf(caller);
      const { query } = inside.database;
      const row = await createOrganisation(inside, query, { name: body.name, ...by });
      await inside.deviceCa.create(query, { orgId: row.id, ...by });
      return { row };
    },
  );
  statusRoutes(organisations);
  endRoutes(organisations);
}

function statusRoutes(organisations: ApiResource<Organisation, OperatorDeps>): void {
  actRoute(
    organisations,
    "/api/v1/organisations/:org/suspend",
    {
      operationId: "apiSuspendOrganisation",
      summary: "Suspend an organisation: its issuer is 404, its tokens are inactive, nothing is deleted",
    },
    (inside, call) => changeStatus(inside, call, true),
  );
  actRoute(
    organisations,
    "/api/v1/organisations/:org/resume",
    { operationId: "apiResumeOrganisation", summary: "Resume a suspended organisation" },
    (inside, call) => changeStatus(inside, call, false),
  );
}

function endRoutes(organisations: ApiResource<Organisation, OperatorDeps>): void {
  actRoute(
    organisations,
    "/api/v1/organisations/:org/restore",
    {
      operationId: "apiRestoreOrganisation",
      summary: "Keep an organisation that was to be deleted: it is as it was before",
    },
    async (inside, call) => {
      const before = await locked(inside, call);
      if (before?.deleteAfter === null) return before;
      if (!before || !(await undoDeletion(inside, actOf(call.caller))))
        throw conflict("The deletion of the organisation has begun.");
      return findOrganisation(inside.database.query, call.orgId);
    },
  );
  laterDeleteRoute(
    organisations,
    "/api/v1/organisations/:org",
    {
      operationId: "apiDeleteOrganisation",
      summary: "Suspend an organisation, and delete everything of it in 30 days",
      done: "The organisation is `deleting` until `deletesAt`",
    },
    async (inside, call) => {
      const before = await locked(inside, call);
      if (before?.deleteAfter === null) await scheduleDeletion(inside, actOf(call.caller));
      return findOrganisation(inside.database.query, call.orgId);
    },
  );
}

async function changeStatus(
  inside: OperatorDeps,
  call: RecordCall<Organisation>,
  disabled: boolean,
): Promise<Organisation | undefined> {
  const before = await locked(inside, call);
  if (!before) return undefined;
  if (before.deleteAfter !== null) throw conflict("The organisation is to be deleted: restore it first.");
  if ((before.disabledAt !== null) === disabled) return before;
  await setOrganisationStatus(inside, { ...actOf(call.caller), disabled });
  return findOrganisation(inside.database.query, call.orgId);
}

/** @throws ApiError 412; 409 for the operators' own, whose end would lock every operator out */
async function locked(
  { database }: OperatorDeps,
  { caller, orgId, check }: RecordCall<Organisation>,
): Promise<Organisation | undefined> {
  const organisation = await lockOrganisation(database.query, orgId);
  if (organisation) await check(organisation);
  if (orgId === caller.home.id)
    throw conflict("The operators' own organisation is suspended and deleted at the database alone.");
  return organisation;
}

/** GET /api/v1, for anybody */
export function apiRootRoute(
  app: FastifyInstance,
  { database, baseUrl }: Pick<ApiDeps, "database" | "baseUrl">,
): void {
  app.get("/api/v1", { exposeHeadRoute: true }, async (_request, reply) => {
    const operators = await findOperatorsOrganisation(database.query);
    const operatorsIssuer = operators === undefined ? null : issuerOf(baseUrl, operators);
    return reply.header("cache-control", "no-store").send({ operatorsIssuer });
  });
}

export const apiRootOperation: DescribedOperation = {
  ...{ method: "GET", path: "/api/v1", operationId: "apiReadRoot", tag, security: [] },
  summary: "Get the issuer whose tokens are the operators'",
  answers: {
    ...problemAnswers([500, 503]),
    200: {
      description: "The issuer; null before the first operator",
      schema: Type.Object(
        { operatorsIssuer: Type.Union([Type.String({ format: "uri" }), Type.Null()]) },
        { title: "ApiRoot" },
      ),
    },
  },
};
