/** Scopes by API v1. */
import { randomBytes } from "node:crypto";
import { createCustomScope } from "../../core/scopes/custom-scopes.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const name = () => `api-${randomBytes(6).toString("hex")}`;

async function newScope({ service, a }: ApiWorld): Promise<string> {
  const content = { displayName: "Made", description: "", claims: [], sensitive: false };
  const input = { orgId: a.organisation.id, name: name(), actor: "test", ...content };
  return `/scopes/${(await createCustomScope(service, input)).id}`;
}

const reads = ["signet:applications:read"] as const;
const writes = ["signet:applications:write"] as const;

export const apiScopeCases = apiV1Cases({
  "GET /scopes": { scopes: reads, path: () => "/scopes", status: 200, wrongQueries: wrongLists },
  "GET /scopes/:id": { scopes: reads, path: newScope, status: 200 },
  "POST /scopes": {
    scopes: writes,
    path: () => "/scopes",
    options: () => ({ body: { name: name(), description: null } }),
    status: 201,
    wrong: [
      ...wrongBodies,
      {},
      { name: "signet:x" },
      { name: "x", claims: [{ name: "iss", source: "static" }] },
    ],
  },
  "PATCH /scopes/:id": {
    scopes: writes,
    path: newScope,
    options: () => ({ body: { sensitive: true } }),
    status: 200,
    wrong: [...wrongBodies, { name: "other" }, { sensitive: "yes" }],
  },
  "DELETE /scopes/:id": { scopes: writes, path: newScope, status: 204, wrong: [{}] },
  "GET /scopes/:id/uses": {
    ...{ scopes: reads, status: 200, wrongQueries: wrongLists },
    path: async (world) => `${await newScope(world)}/uses`,
  },
});
