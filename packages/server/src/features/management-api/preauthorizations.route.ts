/** Pre-authorizations: listed, read, made, deleted. */
import Type from "typebox";
import { findPreauthorization, listPreauthorizations } from "../../core/consents/consents.store.ts";
import { createPreauthorization, deletePreauthorization } from "../../core/consents/consents.ts";
import { notFound } from "../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { pageOf, pageQuery, pageSchema, readPage } from "../../http/api/paging.ts";
import { grantedClient, toGrantAnswer } from "./clients/granted-client.ts";
import { grantSchema } from "./consent-record.ts";
import { acting, by, idOf, locationOf, type ManagementDeps } from "./management.ts";
import { preauthorizationRecord, preauthorizationSchema } from "./preauthorization-record.ts";

const PATH = "/legacy/api/oauth/preauthorizations";
const shared = { tag: "Pre-authorizations", credential: "administrator" } as const;

const filterQuery = Type.Object(
  { ...pageQuery, clientId: Type.Optional(Type.String({ format: "uuid" })) },
  { additionalProperties: false },
);

export function preauthorizationsRoutes(api: ApiScope, deps: ManagementDeps): void {
  readRoutes(api, deps);
  createRoute(api, deps);
  deleteRoute(api, deps);
}

function readRoutes(api: ApiScope, { database, door }: ManagementDeps): void {
  apiRoute(
    api,
    door,
    {
      ...shared,
      method: "GET",
      path: PATH,
      operationId: "listPreauthorizations",
      summary: "The organisation's pre-authorizations, oldest first",
      query: filterQuery,
      answers: {
        200: { description: "A page of pre-authorizations", schema: pageSchema(preauthorizationSchema) },
      },
    },
    async ({ caller, query }) => {
      const page = readPage(query);
      const { clientId } = query;
      const rows = await listPreauthorizations(database.query, caller.organisation.id, {
        limit: page.limit + 1,
        ...(clientId === undefined ? {} : { applicationId: clientId.toLowerCase() }),
        ...(page.after === undefined ? {} : { after: page.after }),
      });
      const { items, nextCursor } = pageOf(rows, page);
      return { status: 200, body: { items: items.map(preauthorizationRecord), nextCursor } };
    },
  );
  apiRoute(
    api,
    door,
    {
      ...shared,
      method: "GET",
      path: `${PATH}/:id`,
      operationId: "getPreauthorization",
      summary: "One pre-authorization",
      answers: { 200: { description: "The pre-authorization", schema: preauthorizationSchema } },
    },
    async ({ caller, params }) => {
      const key = { orgId: caller.organisation.id, id: idOf(params) };
      const record = await findPreauthorization(database.query, key);
      if (!record) throw notFound();
      return { status: 200, body: preauthorizationRecord(record) };
    },
  );
}

function createRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "POST",
      path: PATH,
      operationId: "createPreauthorization",
      errors: [404],
      summary: "Allow a client scopes ahead of any request: nobody is asked",
      body: grantSchema,
      lenient: { readOnly: [] },
      example: { clientId: "01998d70-0000-7000-8000-000000000000", scopes: ["openid", "email"] },
      answers: { 201: { description: "The pre-authorization", schema: preauthorizationSchema } },
    },
    ({ caller, body, within }) =>
      acting(deps, within, async (inside): Promise<Answer> => {
        const { clientId, scopes } = body;
        const application = await grantedClient(inside, caller.organisation.id, clientId);
        const wanted = { application, scopes, ...by(caller) };
        const record = await createPreauthorization(inside, wanted).catch(toGrantAnswer);
        const headers = { location: locationOf(deps, `preauthorizations/${record.id}`) };
        return { status: 201, headers, body: preauthorizationRecord(record) };
      }),
  );
}

function deleteRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "DELETE",
      path: `${PATH}/:id`,
      operationId: "deletePreauthorization",
      summary: "Delete a pre-authorization: the refresh tokens that rest on it end at once",
      answers: { 204: { description: "It is gone" } },
    },
    async ({ caller, params }) => {
      const taking = { orgId: caller.organisation.id, id: idOf(params), ...by(caller) };
      if (!(await deletePreauthorization(deps, taking))) throw notFound();
      return { status: 204 };
    },
  );
}
