/** Protected resources, and clients that nobody registers by hand, by API v1. */
import { randomBytes, randomUUID } from "node:crypto";
import { createResource } from "../../core/protected-resources/protected-resources.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const unique = () => randomBytes(6).toString("hex");
const settings = () => ({ identifier: `https://${unique()}.example/api`, name: "Made" });

async function newResource({ service, baseUrl, a }: ApiWorld): Promise<string> {
  const act = { orgId: a.organisation.id, actor: "test" };
  const deps = { ...service, baseUrl };
  return `/resources/${(await createResource(deps, { ...act, settings: settings(), scopes: [] })).id}`;
}

const reads = ["signet:applications:read"] as const;
const writes = ["signet:applications:write"] as const;

const wrongMembers = [
  ...[{ accessTokenFormat: "saml" }, { accessTokenLifetimeSeconds: 59 }, { senderConstraint: "tls" }],
  ...[{ accessTokenLifetimeSeconds: 86_401 }, { accessTokenSignedResponseAlg: "none" }, { scopes: "x" }],
  ...[{ scopes: ["undefined-scope"] }, { scopes: [{ name: "openid" }] }, { agentDeniedScopes: ["a b"] }],
  ...[{ applicationId: randomUUID() }, { applicationId: "x" }, { enabled: "yes" }, { bogus: 1 }],
];

export const apiResourceCases = apiV1Cases({
  "GET /resources": { scopes: reads, path: () => "/resources", status: 200, wrongQueries: wrongLists },
  "GET /resources/:id": { scopes: reads, path: newResource, status: 200 },
  "POST /resources": {
    ...{ scopes: writes, path: () => "/resources", status: 201 },
    options: () => ({ body: { ...settings(), scopes: [{ name: `s-${unique()}`, sensitive: true }] } }),
    wrong: [
      ...[...wrongBodies, {}, { name: "x" }, { ...settings(), identifier: "payments" }],
      ...[
        { ...settings(), identifier: "https://x.example/#a" },
        { ...settings(), name: "" },
      ],
      ...wrongMembers.map((more) => ({ ...settings(), ...more })),
    ],
  },
  "PATCH /resources/:id": {
    ...{ scopes: writes, path: newResource, status: 200 },
    options: () => ({ body: { accessTokenFormat: "opaque" } }),
    wrong: [...wrongBodies, { identifier: null }, { name: null }, { id: "x" }, ...wrongMembers],
  },
  "DELETE /resources/:id": { scopes: writes, path: newResource, status: 204, wrong: [{}] },
  "GET /client-id-metadata-policy": {
    ...{ scopes: reads, path: () => "/client-id-metadata-policy", status: 200 },
  },
  "PUT /client-id-metadata-policy": {
    ...{ scopes: writes, path: () => "/client-id-metadata-policy", status: 200 },
    options: () => ({ body: { hosts: ["agent.example:8443"], senderConstraint: "required" } }),
    wrong: [
      ...[...wrongBodies, { mode: "some" }, { hosts: ["https://x.example"] }, { hosts: ["a b"] }],
      ...[{ allowedScopes: ["undefined-scope"] }, { allowedScopes: ["signet:users:read"] }],
      ...[{ allowedResources: ["x"] }, { senderConstraint: "mtls" }, { bogus: 1 }],
    ],
  },
});
