/**
 * The three application lists: of the caller's organisation, of what the caller may act for, and of an organisation by id.
 * Enabled applications only.
 */
import Type from "typebox";
import type { Application } from "../../core/applications/application.ts";
import { listEnabledApplications } from "../../core/applications/applications.store.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/system-account.ts";
import { notAuthenticated, notFound } from "../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { type Page, pageOf, pageQuerySchema, pageSchema, readPage } from "../../http/api/paging.ts";
import type { LegacyDeps } from "./legacy-deps.ts";

const application = Type.Object(
  {
    ApplicationId: Type.String({ format: "uuid" }),
    Name: Type.String(),
    OrganisationId: Type.String({ format: "uuid" }),
    Url: Type.Union([Type.String(), Type.Null()], { description: "Home page of the application" }),
  },
  { title: "Application" },
);

const applicationRecord = ({ id, name, orgId, settings }: Application) => ({
  ApplicationId: id,
  Name: name,
  OrganisationId: orgId,
  Url: settings.homepageUri ?? null,
});

export function applicationListRoutes(api: ApiScope, deps: LegacyDeps): void {
  const operation = {
    method: "GET",
    tag: "Organisations",
    credential: "system-account",
    query: pageQuerySchema,
    answers: { 200: { description: "Oldest first", schema: pageSchema(application) } },
  } as const;
  apiRoute(api, {
    ...operation,
    path: "/legacy/api/Organisation/Application/List",
    operationId: "listApplications",
    summary: "List the applications of the caller's organisation",
    authenticator: deps.accountAuthenticator,
    handler: ({ caller, query }) => listPage(deps, caller.organisation.id, readPage(query)),
  });
  apiRoute(api, {
    ...operation,
    path: "/legacy/api/Organisation/External/Application/List",
    operationId: "listAccessibleApplications",
    summary: "List the applications that the caller may act for",
    authenticator: deps.accountAuthenticator,
    handler: ({ caller, query }) =>
      listPage(deps, caller.organisation.id, readPage(query), accessibleTo(caller)),
  });
  apiRoute(api, {
    ...operation,
    path: "/legacy/api/Organisations/:appId/:publicId/application/list",
    operationId: "listApplicationsOfOrganisation",
    summary: "List the applications of an organisation, which must be the caller's",
    authenticator: deps.accountAuthenticator,
    handler: async ({ caller, params, query }) => {
      const { organisation, applicationId } = caller;
      if (!(await deps.applications.find(organisation.id, applicationId)))
        throw notAuthenticated("unknown application");
      if (params["publicId"]?.toLowerCase() !== organisation.id) throw notFound();
      return listPage(deps, organisation.id, readPage(query));
    },
  });
}

const accessibleTo = ({ account }: SystemAccountCaller): readonly string[] => [
  account.applicationId,
  ...account.permissions,
];

async function listPage(
  { database }: LegacyDeps,
  orgId: string,
  page: Page,
  ids?: readonly string[],
): Promise<Answer> {
  const { limit, after } = page;
  const which = { limit: limit + 1, ...(after === undefined ? {} : { after }), ...(ids ? { ids } : {}) };
  const found = await listEnabledApplications(database.query, orgId, which);
  const { items, nextCursor } = pageOf(found, page);
  return { status: 200, body: { items: items.map(applicationRecord), nextCursor } };
}
