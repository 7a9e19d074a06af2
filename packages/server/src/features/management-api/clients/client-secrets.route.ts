/** Rotation of client secrets (specification, "Client secret"): a new secret beside the old ones, then revocation of those. */
import Type from "typebox";
import type { Application } from "../../../core/applications/application.ts";
import { ForeignApplication } from "../../../core/applications/application-copies.ts";
import { findApplication, lockApplication } from "../../../core/applications/applications.store.ts";
import {
  createClientSecret,
  revokeOldSecrets,
  revokeSecret,
} from "../../../core/applications/client-secrets.ts";
import { ApiError, conflict, notFound } from "../../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { by, inTransaction, type ManagementDeps } from "../management.ts";
import {
  createdSecretSchema,
  readRotation,
  rotation,
  rotationExample,
  secretRecord,
} from "./client-secret-record.ts";

const shared = { method: "POST", tag: "Clients", credential: "administrator", bodyOptional: true } as const;

const revocation = strictObject({
  secretId: Type.Optional(
    Type.String({ format: "uuid", description: "Default: all active secrets except the newest" }),
  ),
});

export function clientSecretsRoutes(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(api, {
    ...shared,
    path: "/legacy/api/oauth/clients/:clientId/rotate-secret",
    operationId: "rotateClientSecret",
    summary: "Create another client secret, shown once; existing secrets stay active",
    body: rotation,
    lenient: { readOnly: [] },
    example: rotationExample,
    answers: { 201: { description: "The new secret", schema: createdSecretSchema } },
    authenticator: deps.authenticator,
    handler: ({ caller, params, body, within }) =>
      inTransaction(deps, within, async (inside): Promise<Answer> => {
        const settings = readRotation(body, deps.clock());
        const orgId = caller.organisation.id;
        const { clientType, id: applicationId } = await lockedApplication(inside, orgId, params);
        if (clientType !== "confidential")
          throw new ApiError(409, "public-client", "Only a confidential client has secrets");
        const input = { orgId, applicationId, ...settings, ...by(caller) };
        const { secret, plaintext } = await createClientSecret(inside, input);
        return {
          status: 201,
          headers: { location: `${deps.baseUrl}/legacy/api/oauth/clients/${applicationId}` },
          body: { clientId: applicationId, ...secretRecord(secret), clientSecret: plaintext },
          shownOnce: ["clientSecret"],
        };
      }),
  });
  apiRoute(api, {
    ...shared,
    path: "/legacy/api/oauth/clients/:clientId/revoke-old-secret",
    operationId: "revokeOldClientSecret",
    summary: "Revoke one client secret, or all active ones except the newest, immediately",
    body: revocation,
    lenient: { readOnly: [] },
    example: { secretId: "01998d70-0000-7000-8000-000000000000" },
    answers: { 204: { description: "Revoked" } },
    authenticator: deps.authenticator,
    handler: ({ caller, params, body, within }) =>
      inTransaction(deps, within, async (inside): Promise<Answer> => {
        const orgId = caller.organisation.id;
        const application = await lockedApplication(inside, orgId, params);
        const key = { orgId, applicationId: application.id, ...by(caller) };
        const id = body.secretId?.toLowerCase();
        if (id === undefined) await revokeOldSecrets(inside, key);
        else if (application.secrets.some((secret) => secret.id === id))
          await revokeSecret(inside, { ...key, id });
        else throw notFound();
        return { status: 204 };
      }),
  });
}

/** @throws ApiError 404 */
async function lockedApplication(
  { database }: ManagementDeps,
  orgId: string,
  params: Readonly<Record<string, string>>,
): Promise<Application> {
  const id = idOf(params, "clientId");
  const isLocked = await lockApplication(database.query, { orgId, id });
  const application = isLocked ? await findApplication(database.query, orgId, id) : undefined;
  if (!application) throw notFound();
  if (application.homeOrgId !== null) throw conflict(`${new ForeignApplication().message}.`);
  return application;
}
