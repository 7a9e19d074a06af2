/** A provider, or somebody between, that answers wrongly: nobody is signed in, and the refusal has its own code. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SignetErrorCode } from "../errors.ts";
import {
  APP,
  federatedFixture,
  principalIn,
  refusedWith,
  type TestResponse,
} from "../testing/federated-fixture.ts";
import { testKey } from "../testing/signed-token.ts";
import { ISSUER, type TokenChanges } from "../testing/test-provider.ts";

const SESSION = "__Host-signet-session";

const stranger = await testKey("key-1");

describe("an ID token of a sign-in", () => {
  const table: readonly (readonly [string, SignetErrorCode, TokenChanges])[] = [
    ["of another issuer", "token_issuer", { claims: { iss: "https://evil.example" } }],
    ["for another client", "token_audience", { claims: { aud: "somebody-else" } }],
    ["issued to another party", "token_audience", { claims: { azp: "somebody-else" } }],
    ["of another sign-in", "token_nonce", { claims: { nonce: "another" } }],
    ["without nonce", "token_nonce", { claims: { nonce: undefined } }],
    ["with alg none", "token_algorithm", { header: { alg: "none" } }],
    ["with HS256", "token_algorithm", { header: { alg: "HS256" } }],
    ["of an unknown key", "token_key_unknown", { header: { kid: "key-9" } }],
    ["signed by somebody else", "token_signature", { key: stranger }],
    ["that brings its own key", "token_signature", { key: stranger, header: { jwk: stranger.jwk } }],
    ["that has expired", "token_expired", { claims: { exp: 1_767_225_000 } }],
    ["without sub", "token_claim_missing", { claims: { sub: undefined } }],
    ["without iat", "token_claim_missing", { claims: { iat: undefined } }],
    ["without exp", "token_claim_missing", { claims: { exp: undefined } }],
    ["of the wrong access token", "token_claim", { claims: { at_hash: "wrong" } }],
    ["that is an access token", "token_type", { header: { typ: "at+jwt" } }],
    ["that is a logout token", "token_type", { header: { typ: "logout+jwt" } }],
  ];
  for (const [what, code, changes] of table)
    test(`${what} signs nobody in: ${code}`, async () => {
      const fixture = await federatedFixture();
      fixture.idTokenChanges = changes;
      const browser = fixture.browser();
      const answer = await browser.signIn("/orders");
      refusedWith(answer, code);
      assert.equal(answer.status, 502);
      assert.match(answer.body, /login\?return_to=%2Forders"/);
      assert.deepEqual([...browser.cookies.keys()], [], "no session, and the attempt is used up");
      assert.deepEqual(
        fixture.errors.map((error) => "code" in error && error.code),
        [code],
      );
    });
});

describe("the token endpoint", () => {
  const table: readonly (readonly [string, SignetErrorCode, Record<string, unknown>])[] = [
    ["gives no ID token", "provider_answer", { id_token: undefined }],
    ["gives no access token", "provider_answer", { access_token: undefined }],
    ["gives tokens of another type", "provider_answer", { token_type: "DPoP" }],
    ["gives tokens that end at once", "provider_answer", { expires_in: 0, refresh_token: undefined }],
    ["gives tokens without a type", "provider_answer", { token_type: undefined }],
  ];
  for (const [what, code, changes] of table)
    test(`${what}: ${code}`, async () => {
      const fixture = await federatedFixture();
      fixture.tokenChanges = changes;
      refusedWith(await fixture.browser().signIn(), code);
    });

  test("failures of the provider each have a page, and the sign-in can be started again", async () => {
    for (const [answer, code, status] of [
      [() => Response.json({ error: "invalid_grant" }, { status: 400 }), "provider_refused", 502],
      [() => new Response("", { status: 503 }), "provider_unreachable", 503],
      [() => Promise.reject(new TypeError("refused")), "provider_unreachable", 503],
      [() => new Response("<html>", { headers: { "content-type": "text/html" } }), "provider_answer", 502],
      [
        () => new Response(null, { status: 302, headers: { location: "https://evil.example" } }),
        "provider_answer",
        502,
      ],
    ] as const) {
      const fixture = await federatedFixture();
      fixture.provider.answers.set("/token", answer);
      const shown = await fixture.browser().signIn();
      refusedWith(shown, code);
      assert.equal(shown.status, status);
      assert.equal(shown.headers.get("retry-after"), status === 503 ? "5" : null);
    }
  });
});

test("userinfo of another user signs nobody in, and neither does unavailable userinfo", async () => {
  const fixture = await federatedFixture();
  fixture.provider.userinfo["sub"] = "somebody-else";
  refusedWith(await fixture.browser().signIn(), "token_subject");
  fixture.provider.answers.set("/userinfo", () => new Response("", { status: 500 }));
  refusedWith(await fixture.browser().signIn(), "provider_unreachable");
});

test("userinfo can't describe the sign-in, or override the signed ID token", async () => {
  const fixture = await federatedFixture();
  fixture.idTokenChanges = { claims: { email: "signed@example.com", acr: undefined } };
  Object.assign(fixture.provider.userinfo, {
    acr: "phr",
    amr: ["hwk"],
    sid: "other",
    email: "unsigned@example.com",
  });
  const browser = fixture.browser();
  await browser.signIn();
  const { claims, user } = principalIn(await browser.go("/"));
  assert.deepEqual([claims["acr"], claims["amr"], claims["sid"]], [undefined, undefined, "session-1"]);
  assert.equal(user?.email, "signed@example.com");
});

test("a response without the state of this browser signs nobody in: login CSRF, another browser, repeated, late", async () => {
  const fixture = await federatedFixture();
  const [victim, attacker] = [fixture.browser(), fixture.browser()];
  const begun = await attacker.go("/");
  const path = attacker.answerTo(new URL(begun.location ?? ""));
  refusedWith(await victim.go(path), "login_state");
  await victim.go("/");
  refusedWith(await victim.go(path), "login_state");
  const state = begun.location?.searchParams.get("state") ?? "";
  for (const wrong of ["", "x", `${state}x`, state.slice(0, 23), `${state.slice(0, 24)}${"A".repeat(43)}`]) {
    const answer = await attacker.go(attacker.answerTo(new URL(begun.location ?? ""), { state: wrong }));
    refusedWith(answer, "login_state");
    assert.equal(answer.status, 400);
  }
  fixture.provider.advance(601);
  refusedWith(await attacker.go(path), "login_state");
  assert.equal(fixture.provider.forms.length, 0, "no code was redeemed");
});

test("a response works once; a signed-in user who returns to it is sent to the home page", async () => {
  const fixture = await federatedFixture();
  const browser = fixture.browser();
  const { location } = await browser.go("/orders");
  const path = browser.answerTo(new URL(location ?? ""));
  await browser.go(path);
  assert.equal((await browser.go(path)).location?.href, `${APP}/`);
  const ended = fixture.browser();
  ended.cookies.set(SESSION, browser.cookies.get(SESSION) ?? "");
  const own = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" };
  await browser.send("/signet/logout", { method: "POST", headers: own });
  refusedWith(await browser.go(path), "login_state");
  refusedWith(await ended.go(path), "login_state");
});

test("a callback reloaded before its response arrived redeems the code once and signs in both times", async () => {
  const fixture = await federatedFixture();
  const browser = fixture.browser();
  const { location } = await browser.go("/orders");
  const path = browser.answerTo(new URL(location ?? ""));
  const answers = await Promise.all([browser.go(path), browser.go(path)]);
  for (const answer of answers) assert.equal(answer.location?.href, `${APP}/orders`);
  assert.equal(fixture.provider.forms.length, 1);
  principalIn(await browser.go("/"));
});

test("RFC 9207: another issuer is always rejected, a missing one if the provider announces it", async () => {
  const sign = async (isAnnounced: boolean | undefined, iss: string | undefined): Promise<TestResponse> => {
    const fixture = await federatedFixture();
    fixture.provider.metadata["authorization_response_iss_parameter_supported"] = isAnnounced;
    const browser = fixture.browser();
    const { location } = await browser.go("/");
    return browser.go(browser.answerTo(new URL(location ?? ""), { iss }));
  };
  refusedWith(await sign(true, undefined), "provider_answer");
  refusedWith(await sign(true, `${ISSUER}/`), "provider_answer");
  refusedWith(await sign(false, "https://evil.example"), "provider_answer");
  assert.equal((await sign(true, ISSUER)).status, 302);
  assert.equal((await sign(undefined, undefined)).status, 302);
});

test("a repeated parameter is rejected", async () => {
  const fixture = await federatedFixture();
  const browser = fixture.browser();
  const { location } = await browser.go("/");
  for (const twice of ["code=other", "state=other", `iss=${ISSUER}`, "error=a&error=b"])
    refusedWith(await browser.go(`${browser.answerTo(new URL(location ?? ""))}&${twice}`), "provider_answer");
});

test("a provider's error is shown in our own words, with its code for the log", async () => {
  for (const [error, status, text] of [
    ["access_denied", 403, /Access denied/],
    ["temporarily_unavailable", 503, /temporarily unavailable/],
    ["invalid_scope", 502, /Sign-in failed/],
  ] as const) {
    const fixture = await federatedFixture();
    const browser = fixture.browser();
    const { location } = await browser.go("/");
    const changes = { code: undefined, error, error_description: "call +45 12 34 56 78" };
    const answer = await browser.go(browser.answerTo(new URL(location ?? ""), changes));
    assert.equal(refusedWith(answer, "provider_refused").oauthError, error);
    assert.equal(answer.status, status);
    assert.match(answer.body, text);
    assert.doesNotMatch(answer.body, /\+45/);
    assert.equal(browser.cookies.size, 0);
  }
});

test("no redirect to an unsafe authorization endpoint, another issuer, or an unavailable provider", async () => {
  for (const [metadata, code] of [
    [{ authorization_endpoint: "http://id.example/authorize" }, "provider_answer"],
    [{ authorization_endpoint: "javascript:alert(1)" }, "provider_answer"],
    [{ authorization_endpoint: undefined }, "provider_answer"],
    [{ issuer: "https://evil.example" }, "provider_answer"],
  ] as const) {
    const fixture = await federatedFixture();
    Object.assign(fixture.provider.metadata, metadata);
    const answer = await fixture.browser().go("/");
    refusedWith(answer, code);
    assert.equal(answer.location, undefined);
  }
  const fixture = await federatedFixture();
  fixture.provider.answers.set("/.well-known/openid-configuration", () =>
    Promise.reject(new TypeError("away")),
  );
  const answer = await fixture.browser().go("/orders");
  refusedWith(answer, "provider_unreachable");
  assert.equal(answer.status, 503);
});

test("after its JWKS was swapped, the provider's earlier tokens sign nobody in", async () => {
  const fixture = await federatedFixture();
  fixture.provider.keys.splice(0, 1, (await testKey("key-1")).jwk);
  refusedWith(await fixture.browser().signIn(), "token_signature");
});
