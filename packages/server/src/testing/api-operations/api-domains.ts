/** Domains and break-glass administrators by API v1. */
import { randomBytes } from "node:crypto";
import { createDomain } from "../../core/domains/domains.ts";
import { breakGlass, securedAdministrator } from "../fixtures/routed-domain.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const newName = () => `d${randomBytes(6).toString("hex")}.example`;

async function newDomain({ service, a }: ApiWorld): Promise<string> {
  const domain = newName();
  const route = { connectionId: null, enforced: false };
  const made = await createDomain(service, { orgId: a.organisation.id, actor: "test", domain, route });
  return `/domains/${made.id}`;
}

const reads = ["signet:connections:read"] as const;
const writes = ["signet:connections:write"] as const;
const unknown = "01998d70-5c1e-4d3a-8a4b-6f0e2d9c7b15";

export const apiDomainCases = apiV1Cases({
  "GET /domains": { scopes: reads, path: () => "/domains", status: 200, wrongQueries: wrongLists },
  "GET /domains/:id": { scopes: reads, path: newDomain, status: 200 },
  "POST /domains": {
    ...{ scopes: writes, path: () => "/domains", status: 201 },
    options: () => ({ body: { domain: newName() } }),
    wrong: [
      ...[...wrongBodies, {}, { domain: "com" }, { domain: "co.uk" }, { domain: "localhost" }],
      ...[{ domain: "192.0.2.1" }, { domain: "[2001:db8::1]" }, { domain: "a b.example" }, { domain: "" }],
      ...[
        { domain: "one.example", connectionId: unknown },
        { domain: "one.example", enforced: true },
      ],
      ...[{ domain: `${"a.".repeat(200)}example` }, { domain: "one.example", state: "proven" }],
    ],
  },
  "PATCH /domains/:id": {
    ...{ scopes: writes, path: newDomain, options: () => ({ body: { connectionId: null } }), status: 200 },
    wrong: [...wrongBodies, { domain: "two.example" }, { enforced: true }, { connectionId: unknown }],
  },
  "DELETE /domains/:id": { scopes: writes, path: newDomain, status: 204, wrong: [{}] },
  "POST /domains/:id/verify": {
    ...{ scopes: writes, path: async (world) => `${await newDomain(world)}/verify`, status: 200 },
    wrong: [{ state: "proven" }],
  },
  "GET /break-glass": { scopes: reads, path: () => "/break-glass", status: 200, wrongQueries: wrongLists },
  "PUT /break-glass/:permId": {
    ...{ scopes: writes, status: 204, wrong: [{}] },
    path: async ({ service, a }) => `/break-glass/${await securedAdministrator(service, a.organisation)}`,
  },
  "DELETE /break-glass/:permId": {
    ...{ scopes: writes, status: 204, wrong: [{}] },
    path: async ({ service, a }) => `/break-glass/${await breakGlass(service, a.organisation)}`,
  },
});
