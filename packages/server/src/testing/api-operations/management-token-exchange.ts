/** Token exchange policies by the management API. */
import type { ApiCases, ApiWorld } from "./api-operation.ts";
import { caseOf, made, newClient, noBodyExpected, ownListOnly } from "./management.ts";

const PATH = "/token-exchange-policies";
const content = { name: "Made", target: "https://billing.example", scopes: ["profile"] };
const policy = async (world: ApiWorld) => ({ ...content, clientId: await newClient(world) });
const newPolicy = async (world: ApiWorld) => `${PATH}/${await made(world, PATH, await policy(world))}`;

export const managementTokenExchangeCases: ApiCases = {
  "GET /legacy/api/oauth/token-exchange-policies": caseOf("GET", {
    asked: async () => ({ path: PATH }),
    status: 200,
    foreign: ownListOnly,
    wrong: [`${PATH}?limit=x`, `${PATH}?cursor=x`],
  }),
  "GET /legacy/api/oauth/token-exchange-policies/:id": caseOf("GET", {
    asked: async (world) => ({ path: await newPolicy(world) }),
    status: 200,
    wrong: [],
  }),
  "POST /legacy/api/oauth/token-exchange-policies": caseOf("POST", {
    asked: async (world) => ({ path: PATH, body: await policy(world) }),
    status: 201,
    // Its client is A's.
    wrong: [{}, content, { ...content, clientId: "x", scopes: [] }, { ...content, clientId: "x", id: "x" }],
  }),
  "PUT /legacy/api/oauth/token-exchange-policies/:id": caseOf("PUT", {
    asked: async (world) => ({ path: await newPolicy(world), body: await policy(world) }),
    status: 200,
    wrong: [{}, content, { ...content, clientId: "x", scopes: [] }],
  }),
  "DELETE /legacy/api/oauth/token-exchange-policies/:id": caseOf("DELETE", {
    asked: async (world) => ({ path: await newPolicy(world) }),
    status: 204,
    wrong: noBodyExpected,
  }),
};
