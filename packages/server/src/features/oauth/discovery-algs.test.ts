import assert from "node:assert/strict";
import { test } from "node:test";
import fastify from "fastify";
import { defaultPolicy } from "../../core/client-metadata/client-policy.ts";
import { defaultOrganisationSettings, type Organisation } from "../../core/organisations/organisation.ts";
import type { PublishedAgentKey } from "../../core/signing-pools/directory.ts";
import { publishedDocuments } from "../../http/published-documents.ts";
import { discoveryRoutes } from "./discovery.route.ts";

const ORG = "01998d6e-0000-7000-8000-000000000000";

const agentKey = (alg: string, issuerMode: string) =>
  ({ key: { alg }, pool: { issuerMode } }) as unknown as PublishedAgentKey;

test("lists the algorithms of agents that sign in the organisation's name, not of pools with their own issuer", async () => {
  const app = fastify();
  const clock = () => 0;
  discoveryRoutes(app, {
    baseUrl: "https://id.example",
    clock,
    organisations: { find: async () => ({ id: ORG, settings: defaultOrganisationSettings }) as Organisation },
    customScopes: { list: async () => [] },
    detailTypes: { list: async () => [] },
    clientPolicies: {
      of: async (orgId) => ({ ...{ orgId, ...defaultPolicy, version: 0 }, createdAt: null, updatedAt: null }),
    },
    documents: publishedDocuments({ capacity: 10, clock, idOf: () => "one" }),
    certificates: undefined,
    signingPools: {
      published: async () => [
        agentKey("ES256", "organisation"),
        agentKey("ES384", "organisation"),
        agentKey("ES512", "pool"),
      ],
    },
  });
  const { payload } = await app.inject(`/oauth/${ORG}/.well-known/openid-configuration`);
  const algs = JSON.parse(payload)["id_token_signing_alg_values_supported"];
  assert.deepEqual(algs.toSorted(), [
    ...["ES256", "ES384", "EdDSA"],
    ...["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"],
    ...["PS256", "RS256"],
  ]);
});
