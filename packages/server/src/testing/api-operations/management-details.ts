/** Types of authorization details, and grants, by the management API. */
import { randomUUID } from "node:crypto";
import { listGrants } from "../../core/tokens/grants.store.ts";
import { getTokens } from "../fixtures/client.ts";
import { makeClient, REDIRECT_URI } from "../test-service.ts";
import type { ApiCases, ApiWorld } from "./api-operation.ts";
import { caseOf, made, noBodyExpected, ownListOnly } from "./management.ts";

const content = { displayName: "Made", template: "Pay {amount}", schema: { type: "object" } };
const type = () => ({ type: `t-${randomUUID()}`, ...content });
const newType = async (world: ApiWorld) =>
  `/authorization-detail-types/${await made(world, "/authorization-detail-types", type())}`;

/** Of a new sign-in at A, with a client that no other operation changes. */
export async function newGrant({ a, service }: ApiWorld): Promise<string> {
  const client = await makeClient(service, a.organisation, { redirectUris: [REDIRECT_URI] });
  await getTokens(a, {}, client);
  const { id } = a.organisation;
  const all = await listGrants(service.database.query, id, { limit: 1_000, now: service.clock() });
  return `/grants/${all.at(-1)?.id}`;
}

export const managementDetailCases: ApiCases = {
  "GET /legacy/api/oauth/authorization-detail-types": caseOf("GET", {
    asked: async () => ({ path: "/authorization-detail-types" }),
    status: 200,
    foreign: ownListOnly,
    wrong: ["/authorization-detail-types?limit=x", "/authorization-detail-types?cursor=x"],
  }),
  "GET /legacy/api/oauth/authorization-detail-types/:id": caseOf("GET", {
    asked: async (world) => ({ path: await newType(world) }),
    status: 200,
    wrong: [],
  }),
  "POST /legacy/api/oauth/authorization-detail-types": caseOf("POST", {
    asked: async () => ({ path: "/authorization-detail-types", body: type() }),
    status: 201,
    notForeign: "what is made belongs to the caller's own organisation",
    wrong: [
      {},
      { ...type(), type: "two words" },
      { ...type(), template: "Pay {amount" },
      { ...type(), schema: { $ref: "https://elsewhere.example/schema" } },
      { ...type(), schema: { pattern: "^(a+)+$" } },
      { ...type(), schema: true },
      { ...type(), resource: "no-uri" },
      { ...type(), id: randomUUID() },
    ],
  }),
  "PUT /legacy/api/oauth/authorization-detail-types/:id": caseOf("PUT", {
    asked: async (world) => ({ path: await newType(world), body: { ...content, enabled: false } }),
    status: 200,
    wrong: [{}, { ...content, type: "another" }, { ...content, orgId: "x" }],
  }),
  "DELETE /legacy/api/oauth/authorization-detail-types/:id": caseOf("DELETE", {
    asked: async (world) => ({ path: await newType(world) }),
    status: 204,
    wrong: noBodyExpected,
  }),
  "GET /legacy/api/oauth/grants": caseOf("GET", {
    asked: async (world) => {
      await newGrant(world);
      return { path: "/grants" };
    },
    status: 200,
    foreign: ownListOnly,
    wrong: ["/grants?clientId=x", "/grants?userId=x", "/grants?limit=0", "/grants?kind=x"],
  }),
  "GET /legacy/api/oauth/grants/:id": caseOf("GET", {
    asked: async (world) => ({ path: await newGrant(world) }),
    status: 200,
    wrong: [],
  }),
  "DELETE /legacy/api/oauth/grants/:id": caseOf("DELETE", {
    asked: async (world) => ({ path: await newGrant(world) }),
    status: 204,
    wrong: noBodyExpected,
  }),
};
