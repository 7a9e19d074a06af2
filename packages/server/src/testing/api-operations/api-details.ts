/** Types of authorization details, and grants, by API v1. */
import { randomBytes } from "node:crypto";
import { createDetailType } from "../../core/authorization-details/detail-types.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";
import { newGrant } from "./management-details.ts";

const content = { displayName: "Made", template: "Pay {amount}", schema: { type: "object" } };
const type = () => `t-${randomBytes(6).toString("hex")}`;

async function newType({ service, a }: ApiWorld): Promise<string> {
  const input = { orgId: a.organisation.id, type: type(), ...content, resource: null, enabled: true };
  return `/authorization-detail-types/${(await createDetailType(service, { ...input, actor: "test" })).id}`;
}

const reads = ["signet:applications:read"] as const;
const writes = ["signet:applications:write"] as const;

export const apiDetailCases = apiV1Cases({
  "GET /authorization-detail-types": {
    ...{ scopes: reads, path: () => "/authorization-detail-types", status: 200, wrongQueries: wrongLists },
  },
  "GET /authorization-detail-types/:id": { scopes: reads, path: newType, status: 200 },
  "POST /authorization-detail-types": {
    ...{ scopes: writes, path: () => "/authorization-detail-types", status: 201 },
    options: () => ({ body: { type: type(), ...content, resource: null } }),
    wrong: [
      ...wrongBodies,
      {},
      { type: "x" },
      { type: "x", ...content, template: "{" },
      { type: "x", ...content, schema: { $ref: "#/$defs/none" } },
    ],
  },
  "PATCH /authorization-detail-types/:id": {
    ...{ scopes: writes, path: newType, options: () => ({ body: { enabled: false } }), status: 200 },
    wrong: [...wrongBodies, { type: "other" }, { enabled: "no" }, { template: null }, { schema: { x: 1 } }],
  },
  "DELETE /authorization-detail-types/:id": { scopes: writes, path: newType, status: 204, wrong: [{}] },
  "GET /grants": { scopes: reads, path: () => "/grants", status: 200, wrongQueries: wrongLists },
  "GET /grants/:id": { scopes: reads, path: newGrant, status: 200 },
  "DELETE /grants/:id": { scopes: writes, path: newGrant, status: 204, wrong: [{}] },
});
