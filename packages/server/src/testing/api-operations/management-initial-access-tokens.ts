/** Initial access tokens by the management API. */
import type { ApiCases, ApiWorld } from "./api-operation.ts";
import { caseOf, made, noBodyExpected, ownListOnly } from "./management.ts";

const PATH = "/initial-access-tokens";
const newToken = async (world: ApiWorld) => `${PATH}/${await made(world, PATH, { label: "Made" })}`;

const wrong = [
  ...[{ allowedScopes: ["undefined-scope"] }, { allowedScopes: ["signet:users:read"] }, { maxUses: 0 }],
  ...[{ grantTypes: ["implicit"] }, { expiresAt: "tomorrow" }, { id: "x", token: "sgn_it_x" }],
];

export const managementInitialAccessTokenCases: ApiCases = {
  "GET /legacy/api/oauth/initial-access-tokens": caseOf("GET", {
    asked: async () => ({ path: PATH }),
    status: 200,
    foreign: ownListOnly,
    wrong: [`${PATH}?limit=x`, `${PATH}?cursor=x`],
  }),
  "GET /legacy/api/oauth/initial-access-tokens/:id": caseOf("GET", {
    asked: async (world) => ({ path: await newToken(world) }),
    status: 200,
    wrong: [],
  }),
  "POST /legacy/api/oauth/initial-access-tokens": caseOf("POST", {
    asked: async () => ({ path: PATH, body: { label: "Agents", maxUses: 10 } }),
    status: 201,
    notForeign: "what is made belongs to the caller's own organisation",
    wrong,
  }),
  "PUT /legacy/api/oauth/initial-access-tokens/:id": caseOf("PUT", {
    asked: async (world) => ({ path: await newToken(world), body: { label: "Agents", enabled: false } }),
    status: 200,
    wrong,
  }),
  "DELETE /legacy/api/oauth/initial-access-tokens/:id": caseOf("DELETE", {
    asked: async (world) => ({ path: await newToken(world) }),
    status: 204,
    wrong: noBodyExpected,
  }),
};
