import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SignetError, type SignetErrorCode } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { oauthUserBearer } from "../oauth-user-bearer/oauth-user-bearer.ts";
import { bearer } from "./configurations.ts";
import { federatedFixture, refusedWith } from "./federated-fixture.ts";
import { type InvalidToken, invalidTokens } from "./invalid-tokens.ts";
import { testKey } from "./signed-token.ts";
import { AUDIENCE, createTestProvider } from "./test-provider.ts";

const stranger = await testKey("key-1");

const provider = await createTestProvider();
const fixture = await federatedFixture({}, { authorizationParameters: { max_age: "300" } });

describe("OAuthUserBearer with invalid tokens", () => {
  const filter = oauthUserBearer(bearer, { fetch: provider.fetch, clock: provider.clock });
  const call = (token: string) =>
    filter.authenticate(
      new Request("https://app.example/", { headers: { authorization: `Bearer ${token}` } }),
    );
  const spoilt = invalidTokens(provider, stranger);

  it("accepts a valid access token", async () => {
    assert.equal((await call(await provider.accessToken())).kind, "authenticated");
  });
  for (const [what, code, changes] of [...spoilt.any, ...spoilt.accessToken]) {
    it(`rejects ${what} with ${code}`, async () => {
      const response = refusal(await call(await provider.accessToken(changes)), code);
      assert.equal(response.status, 401);
      assert.match(response.headers.get("www-authenticate") ?? "", /error="invalid_token"/);
    });
  }
  it("accepts neither ID tokens nor logout tokens", async () => {
    const claims = { aud: AUDIENCE };
    for (const token of [await provider.idToken({ claims }), await provider.logoutToken({ claims })])
      refusal(await call(token), "token_type");
  });
});

describe("OAuthFederated with invalid tokens", () => {
  const spoilt = invalidTokens(fixture.provider, stranger);
  // The access token of the fixture is another one each time, so that no at_hash fits it.
  const all: InvalidToken[] = [...spoilt.any, ...spoilt.idToken];

  it("signs in with a valid ID token", async () => {
    fixture.idTokenChanges = {};
    const browser = fixture.browser();
    await browser.signIn();
    assert.equal((await browser.go("/")).result.kind, "authenticated");
  });
  for (const [what, code, changes] of all) {
    it(`rejects ${what} with ${code}, and nobody is signed in`, async () => {
      fixture.idTokenChanges = changes;
      const browser = fixture.browser();
      refusedWith(await browser.signIn(), code);
      assert.equal((await browser.go("/")).result.kind, "answer");
    });
  }
  it("rejects userinfo of another user, or without sub", async () => {
    fixture.idTokenChanges = {};
    for (const sub of ["somebody-else", undefined]) {
      fixture.provider.answers.set("/userinfo", () => Response.json({ ...fixture.provider.userinfo, sub }));
      refusedWith(await fixture.browser().signIn(), "token_subject");
    }
    fixture.provider.answers.delete("/userinfo");
  });
  it("doesn't accept an access token as ID token", async () => {
    fixture.tokenChanges = { id_token: await fixture.provider.accessToken() };
    refusedWith(await fixture.browser().signIn(), "token_type");
    fixture.tokenChanges = {};
  });
});

function refusal(result: FilterResult, code: SignetErrorCode): Response {
  assert.equal(result.kind, "answer");
  const { error, response } = result as FilterResult & { kind: "answer" };
  assert.ok(error instanceof SignetError, String(error));
  assert.equal(error.code, code, error.message);
  return response;
}
