/** Secrets of an application: another one beside the old ones, and the end of one. */
import type { ClientSecret } from "../../../core/applications/application.ts";
import { findApplication, lockApplication } from "../../../core/applications/applications.store.ts";
import { createClientSecret, revokeSecret } from "../../../core/applications/client-secrets.ts";
import { ApiError, notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiCall, type ApiResource, createRoute, deleteRoute } from "../frame/resource-routes.ts";
import { foreignApplication, requireHeldScopes } from "./held-scopes.ts";
import { createdSecret, readRotation, rotation, secretRecord, secretSchema } from "./secret-record.ts";

export function apiSecretsRoutes(api: ApiScope, deps: ApiDeps): void {
  const secrets: ApiResource<ClientSecret> = {
    ...{ api, deps, tag: "API v1: client secrets", one: "secret", many: "secrets" },
    reads: ["signet:applications:read"],
    writes: ["signet:applications:write"],
    schema: secretSchema,
    record: secretRecord,
    volatile: ["lastUsedAt"],
    idParameter: "secretId",
  };
  createRoute(
    secrets,
    "/api/v1/organisations/:org/applications/:id/secrets",
    {
      operationId: "apiCreateSecret",
      summary: "Create another secret, shown once; the others stay active unless they are told to expire",
      body: rotation,
      created: createdSecret,
      errors: [403, 404],
      example: { label: "autumn", expireOthersInSeconds: 86_400 },
    },
    async (inside, call) => {
      const settings = readRotation(call.body, inside.clock());
      const application = await lockedApplication(inside, call);
      requireHeldScopes(call.caller, application.settings.allowedScopes);
      if (application.clientType !== "confidential")
        throw new ApiError(409, "public-client", "Only a confidential application has secrets");
      const wanted = { ...actOf(call.caller), applicationId: application.id, ...settings };
      const { secret, plaintext } = await createClientSecret(inside, wanted);
      return { row: secret, members: { clientSecret: plaintext }, shownOnce: ["clientSecret"] };
    },
  );
  deleteRoute(
    secrets,
    "/api/v1/organisations/:org/applications/:id/secrets/:secretId",
    { operationId: "apiRevokeSecret", summary: "Revoke a secret at once", done: "Revoked" },
    async (inside, call) => {
      const application = await lockedApplication(inside, call);
      const secret = application.secrets.find(({ id }) => id === call.id);
      if (!secret) return false;
      await call.check(secret);
      await revokeSecret(inside, { ...actOf(call.caller), applicationId: application.id, id: call.id });
      return true;
    },
  );
}

/** @throws ApiError 404 */
async function lockedApplication({ database: { query } }: ApiDeps, { orgId, params }: ApiCall) {
  const id = idOf(params);
  const isLocked = await lockApplication(query, { orgId, id });
  const application = isLocked ? await findApplication(query, orgId, id) : undefined;
  if (!application) throw notFound();
  if (application.homeOrgId !== null) throw foreignApplication();
  return application;
}
