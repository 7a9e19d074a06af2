/** Connections by API v1. */
import { createConnection, createToken } from "../../core/connections/connections.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

async function newConnection({ service, a }: ApiWorld): Promise<string> {
  const content = { name: "Directory", enabled: true, deletionPolicy: "disable" as const };
  const { id } = await createConnection(service, { orgId: a.organisation.id, actor: "test", content });
  return `/connections/${id}`;
}

const below = (end: string) => async (world: ApiWorld) => `${await newConnection(world)}${end}`;

async function newToken(world: ApiWorld): Promise<string> {
  const path = await newConnection(world);
  const id = path.split("/").at(-1) ?? "";
  const act = { orgId: world.a.organisation.id, actor: "test", id };
  const token = await createToken(world.service, { ...act, label: "", expiresAt: null });
  return `${path}/tokens/${token?.id}`;
}

const reads = ["signet:connections:read"] as const;
const writes = ["signet:connections:write"] as const;
const body = { kind: "scim", name: "Entra ID" };

export const apiConnectionCases = apiV1Cases({
  "GET /connections": { scopes: reads, path: () => "/connections", status: 200, wrongQueries: wrongLists },
  "GET /connections/:id": { scopes: reads, path: newConnection, status: 200 },
  "POST /connections": {
    ...{ scopes: writes, path: () => "/connections", options: () => ({ body }), status: 201 },
    wrong: [...wrongBodies, {}, { ...body, kind: "oidc" }, { ...body, name: " " }, { ...body, scimUrl: "x" }],
  },
  "PATCH /connections/:id": {
    ...{ scopes: writes, path: newConnection, options: () => ({ body: { enabled: false } }), status: 200 },
    wrong: [...wrongBodies, { kind: "scim" }, { name: null }, { deletionPolicy: "keep" }],
  },
  "DELETE /connections/:id": { scopes: writes, path: newConnection, status: 204, wrong: [{}] },
  "GET /connections/:id/tokens": {
    scopes: reads,
    path: below("/tokens"),
    status: 200,
    wrongQueries: wrongLists,
  },
  "POST /connections/:id/tokens": {
    scopes: [...writes, "signet:users:write", "signet:groups:write"],
    ...{ path: below("/tokens"), options: () => ({ body: { label: "one" } }), status: 201 },
    wrong: [
      ...wrongBodies,
      { expiresAt: "2020-01-01T00:00:00Z" },
      { expiresAt: "soon" },
      { label: "\u0001" },
    ],
  },
  "DELETE /connections/:id/tokens/:tokenId": { scopes: writes, path: newToken, status: 204, wrong: [{}] },
  "GET /connections/:id/calls": {
    scopes: reads,
    path: below("/calls"),
    status: 200,
    wrongQueries: wrongLists,
  },
});
