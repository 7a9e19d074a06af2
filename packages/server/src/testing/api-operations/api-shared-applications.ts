/** Applications of other organisations by API v1: organisation A's, shared by one that is made for the call. */
import { createOrganisation } from "../../core/organisations/organisations.ts";
import { enableShared } from "../../core/shared-applications/shared-applications.ts";
import { makeClient } from "../test-service.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const reads = ["signet:applications:read"] as const;
const writes = ["signet:applications:write"] as const;
const scopes = ["openid", "email"];

/** Offered to organisation A alone. */
async function offered({ service, a }: ApiWorld): Promise<string> {
  const home = await createOrganisation(service, service.database.query, { name: "Maker", actor: "test" });
  const shared = { organisations: [a.organisation.id] };
  const client = await makeClient(service, home, {
    shared,
    redirectUris: ["https://maker.example/callback"],
  });
  return client.application.id;
}

async function enabled(world: ApiWorld): Promise<string> {
  const id = await offered(world);
  await enableShared(world.service, { orgId: world.a.organisation.id, actor: "test", id, scopes });
  return id;
}

const below = (of: typeof offered) => async (world: ApiWorld) => `/shared-applications/${await of(world)}`;

export const apiSharedApplicationCases = apiV1Cases({
  "GET /shared-applications": {
    ...{ scopes: reads, path: () => "/shared-applications", status: 200, wrongQueries: wrongLists },
  },
  "GET /shared-applications/:clientId": { scopes: reads, path: below(enabled), status: 200 },
  "PUT /shared-applications/:clientId": {
    ...{ scopes: writes, path: below(offered), status: 200, options: () => ({ body: { scopes } }) },
    wrong: [...wrongBodies, {}, { scopes: [] }, { scopes: "openid" }, { scopes: ["unknown"] }],
  },
  "DELETE /shared-applications/:clientId": { scopes: writes, path: below(enabled), status: 204, wrong: [{}] },
});
