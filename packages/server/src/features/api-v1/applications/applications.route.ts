/** /api/v1/organisations/{org}/applications: the organisation's applications. */
import type { Static } from "typebox";
import { type Application, usesSecrets } from "../../../core/applications/application.ts";
import {
  ApplicationChanged,
  changeApplication,
  deleteApplication,
} from "../../../core/applications/application-changes.ts";
import { ForeignApplication } from "../../../core/applications/application-copies.ts";
import { findApplication, lockApplication } from "../../../core/applications/applications.store.ts";
import { createApplication } from "../../../core/applications/applications.ts";
import { createClientSecret } from "../../../core/applications/client-secrets.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import { invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { stale } from "../../../http/api/concurrency.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { invalidMembers } from "../frame/member-faults.ts";
import {
  type ApiCall,
  type ApiResource,
  type Created,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
  type RecordCall,
} from "../frame/resource-routes.ts";
import {
  applicationPatch,
  applicationRecord,
  applicationSchema,
  createdApplication,
  newApplication,
  newSettings,
  patchedSettings,
} from "./application-record.ts";
import { applicationListFields, listApplicationPage } from "./applications-list.store.ts";
import { foreignApplication, requireHeldScopes, requireOther } from "./held-scopes.ts";

const example = {
  name: "Shop",
  clientType: "confidential",
  redirectUris: ["https://shop.example/callback"],
  allowedScopes: ["openid", "profile", "email"],
  requireConsent: false,
} as const;

export function apiApplicationsRoutes(api: ApiScope, deps: ApiDeps): void {
  const applications: ApiResource<Application> = {
    ...{ api, deps, tag: "API v1: applications", one: "application", many: "applications" },
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
    schema: applicationSchema,
    record: applicationRecord,
    toAnswer,
    volatile: ["secrets.lastUsedAt"],
  };
  listRoute(
    applications,
    "/api/v1/organisations/:org/applications",
    {
      operationId: "apiListApplications",
      summary: "List applications",
      fields: applicationListFields,
      search: true,
    },
    ({ orgId, list }) => listApplicationPage(deps.database.query, orgId, list),
  );
  getRoute(
    applications,
    "/api/v1/organisations/:org/applications/:id",
    { operationId: "apiReadApplication", summary: "Get an application" },
    ({ orgId, id }) => findApplication(deps.database.query, orgId, id),
  );
  createRoute(
    applications,
    "/api/v1/organisations/:org/applications",
    {
      operationId: "apiCreateApplication",
      summary: "Create an application; a confidential one's first secret is shown once",
      body: newApplication,
      created: createdApplication,
      errors: [403],
      example,
    },
    createWithFirstSecret,
  );
  changeRoutes(applications);
}

async function createWithFirstSecret(
  inside: ApiDeps,
  { caller, body }: ApiCall & { readonly body: Static<typeof newApplication> },
): Promise<Created<Application>> {
  const { name, clientType, enabled = true } = body;
  const settings = newSettings(body, clientType);
  requireHeldScopes(caller, settings.allowedScopes);
  const by = actOf(caller);
  const application = await createApplication(inside, {
    ...by,
    name,
    clientType,
    settings,
    disabled: !enabled,
  });
  if (!usesSecrets(application)) return { row: application };
  const wanted = { ...by, applicationId: application.id, label: "first", expiresAt: null };
  const { secret, plaintext } = await createClientSecret(inside, wanted);
  return {
    row: { ...application, secrets: [secret] },
    members: { clientSecret: plaintext },
    shownOnce: ["clientSecret"],
  };
}

function changeRoutes(applications: ApiResource<Application>): void {
  patchRoute(
    applications,
    "/api/v1/organisations/:org/applications/:id",
    {
      operationId: "apiChangeApplication",
      summary: "Change an application",
      body: applicationPatch,
      example: { requireConsent: false, audience: null },
    },
    async (inside, call) => {
      const before = await lockedApplication(inside, call);
      if (!before) return undefined;
      const { caller, patch, id } = call;
      if (patch.name === null) throw invalid([{ path: "/name", message: "cannot be unset" }]);
      const settings = patchedSettings(before, patch);
      requireHeldScopes(caller, before.settings.allowedScopes, settings.allowedScopes);
      const isDisabled = patch.enabled === undefined ? before.disabledAt !== null : patch.enabled === false;
      if (isDisabled && before.disabledAt === null) requireOther(caller, id);
      const name = patch.name ?? before.name;
      return changeApplication(inside, { ...actOf(caller), id }, () => ({
        name,
        settings,
        disabled: isDisabled,
      }));
    },
  );
  deleteRoute(
    applications,
    "/api/v1/organisations/:org/applications/:id",
    {
      operationId: "apiDeleteApplication",
      summary: "Delete an application with its tokens, consents, session keys and system accounts",
    },
    async (inside, call) => {
      if (!(await lockedApplication(inside, call))) return false;
      requireOther(call.caller, call.id);
      return deleteApplication(inside, { ...actOf(call.caller), id: call.id });
    },
  );
}

/** @throws ApiError 412 */
async function lockedApplication(
  { database: { query } }: ApiDeps,
  { orgId, id, check }: RecordCall<Application>,
): Promise<Application | undefined> {
  await lockApplication(query, { orgId, id });
  const application = await findApplication(query, orgId, id);
  if (application) await check(application);
  return application;
}

function toAnswer(error: unknown): never {
  if (error instanceof InvalidApplication) throw invalidMembers(error.faults);
  if (error instanceof ForeignApplication) throw foreignApplication();
  throw error instanceof ApplicationChanged ? stale() : error;
}
