import assert from "node:assert/strict";
import { test } from "node:test";
import { SignetError, type SignetErrorCode } from "../errors.ts";
import { AUDIENCE, CLIENT_ID, createTestProvider, ISSUER, PERM_ID } from "../testing/test-provider.ts";
import { oauthUserBearer } from "./oauth-user-bearer.ts";

const provider = await createTestProvider();
const { fetch, clock } = provider;
const filter = oauthUserBearer(
  {
    filterType: "OAuthUserBearer",
    issuer: ISSUER,
    oauthAudience: AUDIENCE,
    oauthClientId: "api:1",
    oauthClientSecret: "sec ret",
    introspectTokens: true,
  },
  { fetch, clock },
);

let form = new URLSearchParams();
let authorization: string | null = null;

function answers(body: unknown, status = 200): void {
  provider.answers.set("/introspect", async (request) => {
    form = new URLSearchParams(await request.text());
    authorization = request.headers.get("authorization");
    return Response.json(body, { status });
  });
}

async function ask(token: string) {
  const headers = { authorization: `Bearer ${token}` };
  return filter.authenticate(new Request("https://host.example/", { headers }));
}

async function refused(code: SignetErrorCode, about = ""): Promise<Response> {
  const result = await ask(await provider.accessToken());
  assert.equal(result.kind, "answer", about);
  assert.ok(result.error instanceof SignetError);
  assert.equal(result.error.code, code, about);
  return result.response;
}

test("every request is introspected with the API's own credentials", async () => {
  answers({ active: true, sub: PERM_ID, iss: ISSUER, client_id: CLIENT_ID, jti: "jti-1", aud: AUDIENCE });
  const token = await provider.accessToken();
  const before = provider.calls.length;
  for (let times = 0; times < 2; times++) assert.equal((await ask(token)).kind, "authenticated");
  const asked = provider.calls.slice(before).filter((call) => call === "POST /introspect");
  assert.equal(asked.length, 2);
  assert.equal(form.get("token"), token);
  assert.equal(authorization, `Basic ${btoa("api%3A1:sec+ret")}`);
});

test("an inactive token gets 401 immediately", async () => {
  answers({ active: false });
  const response = await refused("token_inactive");
  assert.equal(response.status, 401);
  assert.match(response.headers.get("www-authenticate") ?? "", /error="invalid_token"/);
});

test("an unclear response, or one about another token, lets nobody in", async () => {
  for (const body of [{}, { active: "true" }, { active: 1 }, [], null, "active"]) {
    answers(body);
    await refused("provider_answer", JSON.stringify(body));
  }
  const others = { sub: "other", iss: "https://other.example", client_id: "other", jti: "other" };
  for (const [name, value] of Object.entries(others)) {
    answers({ active: true, [name]: value });
    await refused("provider_answer", name);
  }
});

test("an unavailable provider, or one that rejects the API's credentials, lets nobody in", async () => {
  answers({}, 503);
  assert.equal((await refused("provider_unreachable")).status, 503);
  answers({ error: "invalid_client" }, 401);
  const response = await refused("provider_refused");
  assert.equal(response.status, 502);
  assert.equal(response.headers.get("www-authenticate"), null);
});

test("invalid tokens aren't introspected", async () => {
  answers({ active: true });
  const before = provider.calls.length;
  const result = await ask(await provider.accessToken({ claims: { exp: 1 } }));
  assert.equal(result.kind, "answer");
  assert.ok(!provider.calls.slice(before).includes("POST /introspect"));
});
