/** Consents and pre-authorizations by API v1. */
import { findApplication } from "../../core/applications/applications.store.ts";
import { createPreauthorization, grantOrganisationConsent } from "../../core/consents/consents.ts";
import { newApplication } from "./api-applications.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const reads = ["signet:applications:read"] as const;
const writes = ["signet:applications:write"] as const;
const scopes = ["openid"];

async function grantOf(world: ApiWorld) {
  const id = await newApplication(world);
  const { service, a } = world;
  const application = await findApplication(service.database.query, a.organisation.id, id);
  if (!application) throw new Error("the application is gone");
  return { application, scopes, actor: "test" };
}
const newConsent = async (world: ApiWorld) =>
  `/consents/${await grantOrganisationConsent(world.service, await grantOf(world))}`;
const newPreauthorization = async (world: ApiWorld) =>
  `/preauthorizations/${(await createPreauthorization(world.service, await grantOf(world))).id}`;
const body = async (world: ApiWorld) => ({ body: { clientId: await newApplication(world), scopes } });
const wrong = [...wrongBodies, {}, { clientId: "x", scopes }, { clientId: crypto.randomUUID(), scopes }];

export const apiGrantCases = apiV1Cases({
  "GET /consents": { scopes: reads, path: () => "/consents", status: 200, wrongQueries: wrongLists },
  "GET /consents/:id": { scopes: reads, path: newConsent, status: 200 },
  "POST /consents": {
    scopes: writes,
    path: () => "/consents",
    options: async (world) => ({ body: { ...(await body(world)).body, userId: world.a.user.id } }),
    status: 201,
    wrong,
  },
  "DELETE /consents/:id": { scopes: writes, path: newConsent, status: 204, wrong: [{}] },
  "GET /preauthorizations": {
    scopes: reads,
    path: () => "/preauthorizations",
    status: 200,
    wrongQueries: wrongLists,
  },
  "GET /preauthorizations/:id": { scopes: reads, path: newPreauthorization, status: 200 },
  "POST /preauthorizations": {
    scopes: writes,
    path: () => "/preauthorizations",
    options: body,
    status: 201,
    wrong,
  },
  "DELETE /preauthorizations/:id": { scopes: writes, path: newPreauthorization, status: 204, wrong: [{}] },
});
