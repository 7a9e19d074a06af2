/**
 * The secrets of a client: another one beside those that work, and the end of the old ones (specification, "Client
 * secret"). Between the two calls both work, so that no request is lost.
 */
import Type from "typebox";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication, holdApplication } from "../../../core/applications/applications.store.ts";
import {
  createClientSecret,
  revokeOldSecrets,
  revokeSecret,
} from "../../../core/applications/client-secrets.ts";
import { ApiError, notFound } from "../../../http/api/api-error.ts";
import { type Answer, type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { acting, by, idOf, locationOf, type ManagementDeps } from "../management.ts";
import { createdSecretSchema, secretRecord } from "./client-secret-record.ts";
import { readRotation, rotation, rotationExample } from "./rotation.ts";

const PATH = "/legacy/api/oauth/clients/:clientId";
const shared = { method: "POST", tag: "Clients", credential: "administrator", bodyOptional: true } as const;

const revocation = Type.Object(
  {
    secretId: Type.Optional(
      Type.String({ format: "uuid", description: "all but the newest, when left out" }),
    ),
  },
  { additionalProperties: false },
);

export function clientSecretsRoutes(api: ApiScope, deps: ManagementDeps): void {
  rotateRoute(api, deps);
  revokeRoute(api, deps);
}

function rotateRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      path: `${PATH}/rotate-secret`,
      operationId: "rotateClientSecret",
      summary: "Give a confidential client another secret, shown once; the old ones work on",
      body: rotation,
      lenient: { readOnly: [] },
      example: rotationExample,
      answers: { 201: { description: "The new secret", schema: createdSecretSchema } },
    },
    ({ caller, params, body, within }) =>
      acting(deps, within, async (inside): Promise<Answer> => {
        const wanted = readRotation(body, deps.clock());
        const orgId = caller.organisation.id;
        const application = await heldApplication(inside, orgId, idOf(params, "clientId"));
        if (application.clientType !== "confidential")
          throw new ApiError(409, "public-client", "Only a confidential client has secrets");
        const { id: applicationId } = application;
        const { secret, plaintext } = await createClientSecret(inside, {
          orgId,
          applicationId,
          ...wanted,
          ...by(caller),
        });
        return {
          status: 201,
          headers: { location: locationOf(deps, `clients/${applicationId}`) },
          body: { clientId: applicationId, ...secretRecord(secret), clientSecret: plaintext },
          shownOnce: ["clientSecret"],
        };
      }),
  );
}

function revokeRoute(api: ApiScope, deps: ManagementDeps): void {
  apiRoute(
    api,
    deps.door,
    {
      ...shared,
      path: `${PATH}/revoke-old-secret`,
      operationId: "revokeOldClientSecret",
      summary: "End one secret, or all active ones but the newest, at once",
      body: revocation,
      lenient: { readOnly: [] },
      example: { secretId: "01998d70-0000-7000-8000-000000000000" },
      answers: { 204: { description: "It is, or they are, revoked" } },
    },
    ({ caller, params, body, within }) =>
      acting(deps, within, async (inside): Promise<Answer> => {
        const orgId = caller.organisation.id;
        const application = await heldApplication(inside, orgId, idOf(params, "clientId"));
        const named = { orgId, applicationId: application.id, ...by(caller) };
        const id = body.secretId?.toLowerCase();
        if (id === undefined) await revokeOldSecrets(inside, named);
        else if (application.secrets.some((secret) => secret.id === id))
          await revokeSecret(inside, { ...named, id });
        else throw notFound();
        return { status: 204 };
      }),
  );
}

/** @throws ApiError 404 */
async function heldApplication(
  { database }: ManagementDeps,
  orgId: string,
  id: string,
): Promise<Application> {
  const held = await holdApplication(database.query, { orgId, id });
  const application = held ? await findApplication(database.query, orgId, id) : undefined;
  if (!application) throw notFound();
  return application;
}
