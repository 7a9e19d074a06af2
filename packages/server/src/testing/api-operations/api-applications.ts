/** Applications by API v1. */
import { assignUser } from "../../core/application-access/application-access.ts";
import { createClientSecret } from "../../core/applications/client-secrets.ts";
import { makeClient } from "../test-service.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const reads = ["signet:applications:read"] as const;
const writes = ["signet:applications:write"] as const;
const content = { name: "Made", clientType: "confidential", redirectUris: ["https://made.example/callback"] };

export async function newApplication({ service, a }: ApiWorld): Promise<string> {
  const { redirectUris } = content;
  return (await makeClient(service, a.organisation, { redirectUris })).application.id;
}
const pathOf = async (world: ApiWorld) => `/applications/${await newApplication(world)}`;

async function newSecret(world: ApiWorld): Promise<string> {
  const applicationId = await newApplication(world);
  const { secret } = await createClientSecret(world.service, {
    ...{ orgId: world.a.organisation.id, applicationId, label: "second", expiresAt: null, actor: "test" },
  });
  return `/applications/${applicationId}/secrets/${secret.id}`;
}

export const apiApplicationCases = apiV1Cases({
  "GET /applications": {
    scopes: reads,
    path: () => "/applications",
    status: 200,
    wrongQueries: [...wrongLists, `search=${"x".repeat(101)}`],
  },
  "GET /applications/:id": { scopes: reads, path: pathOf, status: 200 },
  "POST /applications": {
    scopes: writes,
    path: () => "/applications",
    options: () => ({ body: content }),
    status: 201,
    wrong: [
      ...[...wrongBodies, {}, { ...content, clientType: "other" }, { ...content, RequireConsent: true }],
      { ...content, allowedScopes: ["undefined"] },
    ],
  },
  "PATCH /applications/:id": {
    scopes: writes,
    path: pathOf,
    options: () => ({ body: { requireConsent: false } }),
    status: 200,
    wrong: [...wrongBodies, { name: null }, { clientType: "spa" }, { secrets: [] }, { signingPoolId: "x" }],
  },
  "DELETE /applications/:id": { scopes: writes, path: pathOf, status: 204, wrong: [{}] },
  "POST /applications/:id/secrets": {
    scopes: writes,
    path: async (world) => `${await pathOf(world)}/secrets`,
    status: 201,
    options: () => ({ body: { label: "autumn" } }),
    wrong: [...wrongBodies, { expiresAt: "2020-01-01T00:00:00Z" }, { expireOthersInSeconds: -1 }],
  },
  "DELETE /applications/:id/secrets/:secretId": { scopes: writes, path: newSecret, status: 204, wrong: [{}] },
  "PUT /applications/:id/users/:userId": {
    scopes: writes,
    path: async (world) => `${await pathOf(world)}/users/${world.a.user.id}`,
    status: 204,
    wrong: [{}],
  },
  "DELETE /applications/:id/users/:userId": {
    scopes: writes,
    path: async (world) => {
      const applicationId = await newApplication(world);
      const { organisation, user } = world.a;
      await assignUser(world.service, {
        ...{ orgId: organisation.id, applicationId, userId: user.id, actor: "test" },
      });
      return `/applications/${applicationId}/users/${user.id}`;
    },
    status: 204,
    wrong: [{}],
  },
});
