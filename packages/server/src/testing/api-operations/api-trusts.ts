/** Trusts by API v1. */
import { trustSettings } from "../../core/trusts/trust-schemas.ts";
import { createTrust } from "../../core/trusts/trusts.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const content = { kind: "software_statement", issuer: "https://vendor.example" } as const;
const workload = {
  ...content,
  kind: "workload",
  subjectPattern: "repo:acme/site:ref:refs/heads/main",
} as const;

async function newTrust({ service, baseUrl, a }: ApiWorld): Promise<string> {
  const act = { orgId: a.organisation.id, actor: "test" };
  const settings = trustSettings(content.kind, content);
  return `/trusts/${(await createTrust({ ...service, baseUrl }, { ...act, settings })).id}`;
}

const reads = ["signet:applications:read"] as const;
const writes = ["signet:applications:write"] as const;
const id = "01998d6e-0000-7000-8000-000000000000";

export const apiTrustCases = apiV1Cases({
  "GET /trusts": { scopes: reads, path: () => "/trusts", status: 200, wrongQueries: wrongLists },
  "GET /trusts/:id": { scopes: reads, path: newTrust, status: 200 },
  "POST /trusts": {
    ...{ scopes: writes, path: () => "/trusts", options: () => ({ body: content }), status: 201 },
    wrong: [
      ...[
        ...wrongBodies,
        {},
        { kind: "workload" },
        { issuer: content.issuer },
        { ...content, kind: "other" },
      ],
      ...[
        { ...content, clientId: id },
        workload,
        { ...workload, clientId: id },
        { ...content, connectionId: id },
      ],
      ...[
        { ...content, subjectPattern: "*" },
        { ...content, claims: { ref: "*" } },
        { ...content, issuer: "vendor" },
      ],
      ...[
        { ...content, maxLifetimeSeconds: 59 },
        { ...content, jwksUri: "http://vendor.example/jwks" },
      ],
      ...[
        { ...content, jwks: { keys: [] } },
        { ...content, audience: "a b" },
        { ...content, userBy: "email" },
      ],
    ],
  },
  "PATCH /trusts/:id": {
    ...{ scopes: writes, path: newTrust, options: () => ({ body: { enabled: false } }), status: 200 },
    wrong: [
      ...wrongBodies,
      { kind: "id_jag" },
      { issuer: null },
      { singleUse: "no" },
      { subjectPattern: "a:*:c" },
    ],
  },
  "DELETE /trusts/:id": { scopes: writes, path: newTrust, status: 204, wrong: [{}] },
});
