/**
 * The three lists of applications: the caller's organisation's, those that the caller may act for, and an
 * organisation's by its id. Disabled ones are left out.
 */
import Type from "typebox";
import type { Application } from "../../core/applications/application.ts";
import { listEnabledApplications } from "../../core/applications/applications.store.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/caller.ts";
import { notAuthenticated, notFound } from "../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../http/api/api-route.ts";
import { type Page, pageOf, pageQuery, pageSchema, readPage } from "../../http/api/paging.ts";
import type { LegacyDeps } from "./legacy-deps.ts";

const application = Type.Object(
  {
    ApplicationId: Type.String({ format: "uuid" }),
    Name: Type.String(),
    OrganisationId: Type.String({ format: "uuid" }),
    Url: Type.Union([Type.String(), Type.Null()], { description: "the application's home page" }),
  },
  { title: "Application" },
);

const recordOf = ({ id, name, orgId, settings }: Application) => ({
  ApplicationId: id,
  Name: name,
  OrganisationId: orgId,
  Url: settings.homepageUri ?? null,
});

const query = Type.Object(pageQuery, { additionalProperties: false });

export function applicationListRoutes(api: ApiScope, deps: LegacyDeps): void {
  const operation = {
    method: "GET",
    tag: "Organisations",
    credential: "system-account",
    query,
    answers: { 200: { description: "Oldest first", schema: pageSchema(application) } },
  } as const;
  apiRoute(
    api,
    deps.signed,
    {
      ...operation,
      path: "/legacy/api/Organisation/Application/List",
      operationId: "listApplications",
      summary: "The applications of the caller's organisation",
    },
    ({ caller, query: asked }) => listOf(deps, caller.organisation.id, readPage(asked)),
  );
  apiRoute(
    api,
    deps.signed,
    {
      ...operation,
      path: "/legacy/api/Organisation/External/Application/List",
      operationId: "listAccessibleApplications",
      summary: "The applications that the caller may act for",
    },
    ({ caller, query: asked }) => listOf(deps, caller.organisation.id, readPage(asked), accessibleTo(caller)),
  );
  apiRoute(
    api,
    deps.signed,
    {
      ...operation,
      path: "/legacy/api/Organisations/:appId/:publicId/application/list",
      operationId: "listApplicationsOfOrganisation",
      summary: "The applications of an organisation, which is the caller's",
    },
    async ({ caller, params, query: asked }) => {
      const { organisation, applicationId } = caller;
      if (!(await deps.applications.find(organisation.id, applicationId)))
        throw notAuthenticated("unknown application");
      if (params["publicId"]?.toLowerCase() !== organisation.id) throw notFound();
      return listOf(deps, organisation.id, readPage(asked));
    },
  );
}

/** All of the organisation's for an administrator's account. */
const accessibleTo = ({ account }: SystemAccountCaller): readonly string[] | undefined =>
  account.isAdministrator ? undefined : [account.applicationId, ...account.permissions];

async function listOf(
  { database }: LegacyDeps,
  orgId: string,
  page: Page,
  ids?: readonly string[],
): Promise<Answer> {
  const { limit, after } = page;
  const which = { limit: limit + 1, ...(after === undefined ? {} : { after }), ...(ids ? { ids } : {}) };
  const found = await listEnabledApplications(database.query, orgId, which);
  const { items, nextCursor } = pageOf(found, page);
  return { status: 200, body: { items: items.map(recordOf), nextCursor } };
}
