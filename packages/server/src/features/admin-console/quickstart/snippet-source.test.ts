import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApplicationSettings, defaultSettings } from "../../../core/applications/application.ts";
import { envFile } from "./env-file.ts";
import { findCallback, requestedScopes, type SnippetSource } from "./snippet-source.ts";

const web = (settings: Partial<ApplicationSettings>) => ({
  clientType: "confidential" as const,
  settings: { ...defaultSettings("confidential"), ...settings },
});

test("tells the client SDK its callback, and which redirect URI to register", () => {
  const own = "https://a.example/signet/callback";
  assert.deepEqual(findCallback(web({ redirectUris: ["https://b.example/x", own] })), {
    address: "https://a.example",
    redirectUri: own,
  });
  const other = findCallback(web({ redirectUris: ["https://a.example/my/auth/callback"] }));
  assert.equal(other.basePath, "/my/auth");
  for (const uri of ["https://a.example/callback", "https://a.example/done?x=/y/callback"])
    assert.equal(findCallback(web({ redirectUris: [uri] })).unregistered, own, uri);
  assert.equal(findCallback(web({ returnUrls: ["https://a.example/app"] })).unregistered, own);
  assert.equal(findCallback(web({ returnUrls: ["https://a.example/"] })).unregistered, undefined);
  const phone = { ...web({ redirectUris: ["com.example.app:/callback"] }), clientType: "native" as const };
  assert.equal(findCallback(phone).address, "http://localhost:3000");
  assert.equal(findCallback(phone).redirectUri, "com.example.app:/callback");
  const computer = ["com.example.app:/callback", "http://127.0.0.1/callback"];
  const installed = { ...web({ redirectUris: computer }), clientType: "native" as const };
  assert.equal(findCallback(installed).redirectUri, "http://127.0.0.1/callback");
});

const source: SnippetSource = {
  kind: "web",
  baseUrl: "http://id.example:8080",
  issuer: "http://id.example:8080/oauth/o",
  orgId: "o",
  clientId: "c",
  hasSecret: true,
  secretUri: "http://id.example:8080/new",
  callback: {
    address: "http://localhost:3000",
    redirectUri: "http://localhost:3000/auth/callback",
    basePath: "/auth",
  },
  scopes: ["openid", "jobs:$run"],
  idTokenAlg: "ES256",
  pool: { id: "p", issuerMode: "pool" },
  version: "1",
};

test("the env file has what the SDK needs, and nothing that a shell would expand", () => {
  const lines = envFile(source).split("\n");
  for (const line of [
    "SIGNET_BASE_PATH=/auth",
    "SIGNET_ENVIRONMENT=development",
    "SIGNET_SOVEREIGN_SIGNING_POOL_ID=p",
    "SIGNET_SOVEREIGN_ALLOW_UNPINNED=true",
    "SIGNET_OAUTH_SCOPES='openid jobs:$run'",
    "SIGNET_OAUTH_CLIENT_SECRET=",
  ])
    assert.ok(lines.includes(line), line);
  const here = envFile({ ...source, baseUrl: "https://id.example", pool: undefined });
  assert.doesNotMatch(here, /ENVIRONMENT|SOVEREIGN/);
  assert.match(here, /^SIGNET_COOKIE_SECRETS=[\w-]{43,}$/m);
});

test("omits a scope that a shell can't quote", () => {
  const settings = { grantTypes: ["client_credentials"], allowedScopes: ["a", "b'c"] } as const;
  assert.deepEqual(requestedScopes(web(settings)), ["a"]);
});

test("the env file names the ID token algorithm where it is not the SDK's default", () => {
  const algOf = (changes: Partial<SnippetSource>) =>
    /^SIGNET_OAUTH_ID_TOKEN_ALG=(.*)$/m.exec(envFile({ ...source, pool: undefined, ...changes }))?.[1];
  assert.equal(algOf({ idTokenAlg: "RS256" }), "RS256");
  assert.equal(algOf({}), undefined);
  assert.equal(algOf({ idTokenAlg: "RS256", kind: "legacy" }), undefined);
  assert.equal(
    algOf({ idTokenAlg: "RS256", pool: { id: "p", issuerMode: "pool" } }),
    undefined,
    "agents' keys decide",
  );
});
