/** Token exchange policies by API v1. */
import { createExchangePolicy } from "../../core/token-exchange/exchange-policies.ts";
import { policySettings } from "../../core/token-exchange/policy-schemas.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const content = { name: "Billing", target: "https://billing.example", scopes: ["profile"] };
const bodyIn = ({ a }: ApiWorld) => ({ ...content, clientId: a.web.application.id });
const id = "01998d6e-0000-7000-8000-000000000000";
const unknown = { ...content, clientId: id };

async function newPolicy(world: ApiWorld): Promise<string> {
  const { service, baseUrl, a } = world;
  const act = { orgId: a.organisation.id, actor: "test" };
  const policy = await createExchangePolicy(
    { ...service, baseUrl },
    { ...act, settings: policySettings(bodyIn(world)) },
  );
  return `/token-exchange-policies/${policy.id}`;
}

const reads = ["signet:applications:read"] as const;
const writes = ["signet:applications:write"] as const;
const path = () => "/token-exchange-policies";

export const apiTokenExchangeCases = apiV1Cases({
  "GET /token-exchange-policies": { scopes: reads, path, status: 200, wrongQueries: wrongLists },
  "GET /token-exchange-policies/:id": { scopes: reads, path: newPolicy, status: 200 },
  "POST /token-exchange-policies": {
    ...{ scopes: writes, path, options: (world: ApiWorld) => ({ body: bodyIn(world) }), status: 201 },
    wrong: [
      ...[
        ...wrongBodies,
        {},
        content,
        unknown,
        { ...unknown, scopes: [] },
        { ...unknown, scopes: ["undefined"] },
      ],
      ...[
        { ...unknown, scopes: ["signet:users:read"] },
        { ...unknown, target: "a b" },
        { ...unknown, name: "" },
      ],
      ...[
        { ...unknown, requestedTokenType: "refresh_token" },
        { ...unknown, maxLifetimeSeconds: 59 },
      ],
    ],
  },
  "PATCH /token-exchange-policies/:id": {
    ...{ scopes: writes, path: newPolicy, options: () => ({ body: { enabled: false } }), status: 200 },
    wrong: [
      ...wrongBodies,
      { name: null },
      { scopes: [] },
      { clientId: id },
      { impersonation: "no" },
      { id },
    ],
  },
  "DELETE /token-exchange-policies/:id": { scopes: writes, path: newPolicy, status: 204, wrong: [{}] },
});
