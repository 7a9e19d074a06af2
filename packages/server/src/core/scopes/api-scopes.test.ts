import assert from "node:assert/strict";
import { test } from "node:test";
import { nameableResources } from "./api-scopes.ts";

const base = "https://id.example";
const settings = {
  allowedResources: ["https://jobs.example"],
  allowedScopes: ["openid", "signet:users:read"],
};

test("the API is a resource of applications whose users can give it access to that", () => {
  assert.deepEqual(nameableResources({ settings }, [], base), [
    "https://jobs.example",
    "https://id.example/api/v1",
  ]);
});

test("the API is no resource without its scopes, behind a signing pool, or where the scope is the organisation's own", () => {
  const own = ["https://jobs.example"];
  const without = { ...settings, allowedScopes: ["openid"] };
  assert.deepEqual(nameableResources({ settings: without }, [], base), own);
  const pooled = { ...settings, signingPoolId: "a pool" };
  assert.deepEqual(nameableResources({ settings: pooled }, [], base), own);
  assert.deepEqual(nameableResources({ settings }, [{ name: "signet:users:read" }], base), own);
});
