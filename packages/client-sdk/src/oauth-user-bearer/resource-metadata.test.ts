import assert from "node:assert/strict";
import { test } from "node:test";
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { AUDIENCE, createTestProvider, ISSUER } from "../testing/test-provider.ts";
import { type OAuthUserBearerOptions, oauthUserBearer } from "./oauth-user-bearer.ts";
import { requireAuthentication } from "./step-up.ts";
import { handlerErrorResponse } from "./unauthorized-response.ts";

const provider = await createTestProvider();

const api = (options: OAuthUserBearerOptions, more: object = {}) =>
  oauthUserBearer(
    { filterType: "OAuthUserBearer", issuer: ISSUER, oauthAudience: AUDIENCE, oauthScopes: "notes", ...more },
    { fetch: provider.fetch, clock: provider.clock, ...options },
  );

const ask = (
  filter: ReturnType<typeof api>,
  path: string,
  { method = "GET", token = "" }: { method?: string; token?: string } = {},
): Promise<FilterResult> => {
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
  return filter.authenticate(new Request(`http://inside.example${path}`, { method, headers }));
};

async function answerOf(result: Promise<FilterResult>): Promise<Response> {
  const settled = await result;
  assert.equal(settled.kind, "answer");
  return settled.response;
}

test("the metadata is served where RFC 9728 says, whatever the Host header is", async () => {
  const resource = `${AUDIENCE}/mcp`;
  const filter = api({
    resourceMetadata: { resource, name: "Notes", documentation: "https://docs.example" },
  });
  const answer = await answerOf(ask(filter, "/.well-known/oauth-protected-resource/mcp"));
  assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "application/json"]);
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  assert.deepEqual(await answer.json(), {
    resource,
    authorization_servers: [ISSUER],
    bearer_methods_supported: ["header"],
    scopes_supported: ["notes"],
    resource_name: "Notes",
    resource_documentation: "https://docs.example",
  });
  for (const [method, status] of [
    ["HEAD", 200],
    ["OPTIONS", 204],
    ["POST", 405],
  ] as const) {
    const other = await answerOf(ask(filter, "/.well-known/oauth-protected-resource/mcp", { method }));
    assert.deepEqual([other.status, await other.text()], [status, ""], method);
  }
  const elsewhere = await answerOf(ask(filter, "/.well-known/oauth-protected-resource"));
  assert.equal(elsewhere.status, 401);
  const root = api({ resourceMetadata: true }, { baseUrl: AUDIENCE });
  const document = await answerOf(ask(root, "/.well-known/oauth-protected-resource"));
  assert.deepEqual(((await document.json()) as Record<string, unknown>)["resource"], AUDIENCE);
});

test("every challenge names the metadata; the first one the scopes to ask for", async () => {
  const filter = api({ resourceMetadata: true });
  const named = `resource_metadata="${AUDIENCE}/.well-known/oauth-protected-resource"`;
  const first = await answerOf(ask(filter, "/notes"));
  const realm = `Bearer realm="${AUDIENCE}"`;
  assert.equal(first.headers.get("www-authenticate"), `${realm}, scope="notes", ${named}`);
  const wrong = await answerOf(ask(filter, "/notes", { token: "x.y.z" }));
  assert.match(wrong.headers.get("www-authenticate") ?? "", /error="invalid_token".*resource_metadata="/);
  const token = await provider.accessToken({ claims: { scope: "other" } });
  const lacking = await answerOf(ask(filter, "/notes", { token }));
  assert.equal(lacking.status, 403);
  assert.match(
    lacking.headers.get("www-authenticate") ?? "",
    /error="insufficient_scope".*scope="notes".*resource_metadata="/,
  );
  const silent = await answerOf(ask(api({}), "/notes"));
  assert.doesNotMatch(silent.headers.get("www-authenticate") ?? "", /resource_metadata|scope=/);
});

test("a resource that is no https URL, or of another origin than the API, is a fault of the configuration", () => {
  for (const [resource, baseUrl] of [
    ["urn:notes", undefined],
    ["http://api.example", undefined],
    [`${AUDIENCE}#x`, undefined],
    ["https://other.example/", AUDIENCE],
  ] as const)
    assert.throws(
      () => api({ resourceMetadata: { resource } }, baseUrl === undefined ? {} : { baseUrl }),
      (error) => error instanceof SignetError && error.code === "configuration",
      resource,
    );
});

test("a weak or old sign-in gets the challenge of RFC 9470", async () => {
  const acrValues = ["phr", "urn:signet:acr:mfa"];
  const filter = api({ acrValues, maxAgeSeconds: 300 });
  const seconds = provider.clock() / 1000;
  const withClaims = async (claims: object) =>
    ask(filter, "/notes", { token: await provider.accessToken({ claims: { scope: "notes", ...claims } }) });
  for (const claims of [
    {},
    { acr: "urn:signet:acr:pwd", auth_time: seconds },
    { acr: "phr" },
    { acr: "phr", auth_time: seconds - 361 },
    { acr: ["phr"], auth_time: seconds },
  ]) {
    const refused = await answerOf(withClaims(claims));
    assert.equal(refused.status, 401, JSON.stringify(claims));
    assert.match(
      refused.headers.get("www-authenticate") ?? "",
      /error="insufficient_user_authentication".*acr_values="phr urn:signet:acr:mfa", max_age="300"/,
    );
  }
  assert.equal((await withClaims({ acr: "phr", auth_time: seconds - 300 })).kind, "authenticated");
});

test("a handler asks for more, and the adapters answer the same", () => {
  const claims = { acr: "urn:signet:acr:pwd" };
  const needed = () => requireAuthentication({ claims }, { acrValues: ["phr"] });
  assert.throws(needed, (error) => {
    const answer = handlerErrorResponse(error);
    assert.equal(answer?.status, 401);
    assert.match(
      answer?.headers.get("www-authenticate") ?? "",
      /^Bearer error="insufficient_user_auth.*acr_values="phr"$/,
    );
    return true;
  });
  requireAuthentication({ claims }, { acrValues: ["urn:signet:acr:pwd"] });
});
