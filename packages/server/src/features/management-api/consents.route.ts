/** Consents: listed, read, given by an administrator for all users or for one, taken back. */
import Type, { type Static } from "typebox";
import { type ConsentFilter, findConsentRecord, listConsents } from "../../core/consents/consents.store.ts";
import { grantByAdministrator, revokeConsent } from "../../core/consents/consents.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/caller.ts";
import { findUser } from "../../core/users/users.store.ts";
import { notFound } from "../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { pageOf, pageQuery, pageSchema, readPage } from "../../http/api/paging.ts";
import { grantedClient, toGrantAnswer } from "./clients/granted-client.ts";
import { consentRecord, consentSchema, grantSchema, userGrantSchema } from "./consent-record.ts";
import { acting, by, idOf, locationOf, type ManagementDeps, namesNothing } from "./management.ts";

const PATH = "/legacy/api/oauth/consents";
const shared = { tag: "Consents", credential: "administrator" } as const;

const filterQuery = Type.Object(
  {
    ...pageQuery,
    clientId: Type.Optional(Type.String({ format: "uuid" })),
    userId: Type.Optional(Type.String({ format: "uuid" })),
    kind: Type.Optional(Type.Enum(["user", "organisation"])),
    revoked: Type.Optional(Type.Enum(["true", "false"], { description: "true: those taken back too" })),
  },
  { additionalProperties: false },
);

export function consentsRoutes(api: ApiScope, deps: ManagementDeps): void {
  readRoutes(api, deps);
  grantRoutes(api, deps);
  revokeRoute(api, deps);
}

function readRoutes(api: ApiScope, { database, door }: ManagementDeps): void {
  apiRoute(
    api,
    door,
    {
      ...shared,
      method: "GET",
      path: PATH,
      operationId: "listConsents",
      summary: "Consents of users and for the whole organisation, oldest first",
      query: filterQuery,
      answers: { 200: { description: "A page of consents", schema: pageSchema(consentSchema) } },
    },
    async ({ caller, query }) => {
      const page = readPage(query);
      const rows = await listConsents(database.query, caller.organisation.id, {
        ...filterOf(query),
        limit: page.limit + 1,
        ...(page.after === undefined ? {} : { after: page.after }),
      });
      const { items, nextCursor } = pageOf(rows, page);
      return { status: 200, body: { items: items.map(consentRecord), nextCursor } };
    },
  );
  apiRoute(
    api,
    door,
    {
      ...shared,
      method: "GET",
      path: `${PATH}/:id`,
      operationId: "getConsent",
      summary: "One consent, also when it has been taken back",
      answers: { 200: { description: "The consent", schema: consentSchema } },
    },
    async ({ caller, params }) => {
      const key = { orgId: caller.organisation.id, id: idOf(params) };
      const consent = await findConsentRecord(database.query, key);
      if (!consent) throw notFound();
      return { status: 200, body: consentRecord(consent) };
    },
  );
}

function filterOf({ clientId, userId, kind, revoked }: Static<typeof filterQuery>): ConsentFilter {
  return {
    ...(clientId === undefined ? {} : { applicationId: clientId.toLowerCase() }),
    ...(userId === undefined ? {} : { userId: userId.toLowerCase() }),
    ...(kind === undefined ? {} : { kind }),
    revoked: revoked === "true",
  };
}

function grantRoutes(api: ApiScope, deps: ManagementDeps): void {
  const example = { clientId: "01998d70-0000-7000-8000-000000000000", scopes: ["openid", "email"] };
  const answers = {
    200: { description: "Added to the consent that was there", schema: consentSchema },
    201: { description: "The consent", schema: consentSchema },
  };
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "POST",
      path: `${PATH}/organisation`,
      operationId: "grantOrganisationConsent",
      errors: [404],
      summary: "Allow a client scopes for all users: none of them is asked",
      body: grantSchema,
      lenient: { readOnly: [] },
      example,
      answers,
    },
    ({ caller, body, within }) => acting(deps, within, (inside) => grant(inside, caller, body)),
  );
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "POST",
      path: `${PATH}/user`,
      operationId: "grantUserConsent",
      errors: [404],
      summary: "Allow a client scopes for one user, who is not asked",
      body: userGrantSchema,
      lenient: { readOnly: [] },
      example: { ...example, userId: "8f14e45f-ceea-467f-9a0b-1c2d3e4f5a6b" },
      answers,
    },
    ({ caller, body, within }) =>
      acting(deps, within, async (inside) => {
        const userId = body.userId.toLowerCase();
        const user = await findUser(inside.database.query, caller.organisation.id, userId);
        if (!user) throw namesNothing("/userId");
        return grant(inside, caller, { ...body, userId });
      }),
  );
}

async function grant(
  inside: ManagementDeps,
  caller: SystemAccountCaller,
  { clientId, scopes, userId }: { clientId: string; scopes: readonly string[]; userId?: string },
): Promise<Answer> {
  const orgId = caller.organisation.id;
  const application = await grantedClient(inside, orgId, clientId);
  const wanted = { application, scopes, ...by(caller), ...(userId === undefined ? {} : { userId }) };
  const { id, isNew } = await grantByAdministrator(inside, wanted).catch(toGrantAnswer);
  const consent = await findConsentRecord(inside.database.query, { orgId, id });
  if (!consent) throw notFound();
  const body = consentRecord(consent);
  if (!isNew) return { status: 200, body };
  return { status: 201, headers: { location: locationOf(inside, `consents/${id}`) }, body };
}

function revokeRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      method: "DELETE",
      path: `${PATH}/:id`,
      operationId: "revokeConsent",
      summary: "Take a consent back: the refresh tokens that rest on it end at once",
      answers: { 204: { description: "It is revoked" } },
    },
    async ({ caller, params }) => {
      const taking = { orgId: caller.organisation.id, id: idOf(params), ...by(caller) };
      if (!(await revokeConsent(deps, taking))) throw notFound();
      return { status: 204 };
    },
  );
}
