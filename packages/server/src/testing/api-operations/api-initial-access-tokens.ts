/** Initial access tokens by API v1. */
import assert from "node:assert/strict";
import { initialAccessTokenSettings } from "../../core/client-registration/initial-access-token-schemas.ts";
import { createInitialAccessToken } from "../../core/client-registration/initial-access-tokens.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

async function newToken({ service, a }: ApiWorld): Promise<string> {
  const times = { now: service.clock(), readTime: () => undefined };
  const settings = initialAccessTokenSettings({ label: "Made" }, times);
  const act = { orgId: a.organisation.id, actor: "test" };
  return `/initial-access-tokens/${(await createInitialAccessToken(service, { ...act, settings })).record.id}`;
}

const reads = ["signet:applications:read"] as const;
const writes = ["signet:applications:write"] as const;
const path = "/initial-access-tokens";

/** Of a new one and of a change. */
const wrong = [
  ...wrongBodies,
  ...[{ label: "x".repeat(101) }, { label: "a\u202eb" }, { label: 1 }, { enabled: "yes" }, { uses: 1 }],
  ...[
    { allowedScopes: ["undefined-scope"] },
    { allowedScopes: ["signet:users:read"] },
    { allowedScopes: "x" },
  ],
  ...[{ allowedResources: ["x"] }, { allowedResources: ["https://a.example/#f"] }, { token: "sgn_it_x" }],
  ...[
    { grantTypes: [] },
    { grantTypes: ["implicit"] },
    { maxUses: 0 },
    { maxUses: 10_001 },
    { maxUses: 1.5 },
  ],
  ...[
    { expiresAt: "tomorrow" },
    { expiresAt: "2020-01-01T00:00:00Z" },
    { expiresAt: "2999-01-01T00:00:00Z" },
  ],
];

export const apiInitialAccessTokenCases = apiV1Cases({
  "GET /initial-access-tokens": { scopes: reads, path: () => path, status: 200, wrongQueries: wrongLists },
  "GET /initial-access-tokens/:id": {
    ...{ scopes: reads, path: newToken, status: 200 },
    check: (body) => assert.ok(!("token" in body)),
  },
  "POST /initial-access-tokens": {
    ...{ scopes: writes, path: () => path, options: () => ({ body: {} }), status: 201, wrong },
    check: (body, { service }) => {
      assert.match(String(body["token"]), /^sgn_it_[A-Za-z0-9_-]{43}$/);
      assert.equal(Date.parse(String(body["expiresAt"])), Date.parse(String(body["createdAt"])) + 86_400_000);
      assert.ok(Date.parse(String(body["createdAt"])) <= service.clock());
      assert.deepEqual(
        [body["label"], body["maxUses"], body["uses"], body["enabled"], body["allowedResources"]],
        ["", 1, 0, true, []],
      );
      assert.deepEqual(body["allowedScopes"], ["openid", "profile", "email", "offline_access"]);
      assert.deepEqual(body["grantTypes"], ["authorization_code", "refresh_token"]);
    },
  },
  "PATCH /initial-access-tokens/:id": {
    ...{ scopes: writes, path: newToken, options: () => ({ body: { enabled: false } }), status: 200, wrong },
    check: (body) => assert.deepEqual([body["enabled"], body["label"]], [false, "Made"]),
  },
  "DELETE /initial-access-tokens/:id": { scopes: writes, path: newToken, status: 204, wrong: [{}] },
});
