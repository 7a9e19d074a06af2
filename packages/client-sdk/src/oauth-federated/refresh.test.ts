import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type FederatedFixture,
  federatedFixture,
  principalIn,
  refusedWith,
  type TestBrowser,
} from "../testing/federated-fixture.ts";

const SESSION = "__Host-signet-session";
const SCRIPT = { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" };

async function signedIn(): Promise<{ fixture: FederatedFixture; browser: TestBrowser }> {
  const fixture = await federatedFixture();
  const browser = fixture.browser();
  await browser.signIn();
  return { fixture, browser };
}

test("tokens are refreshed a minute before they expire, and not earlier", async () => {
  const { fixture, browser } = await signedIn();
  const first = principalIn(await browser.go("/")).accessToken;
  fixture.provider.advance(3539);
  const before = await browser.go("/");
  assert.deepEqual([principalIn(before).accessToken, before.cookies], [first, []]);
  fixture.provider.advance(1);
  const after = await browser.go("/");
  assert.notEqual(principalIn(after).accessToken, first);
  assert.deepEqual(fixture.refreshed, ["rt-1"]);
  assert.equal(after.cookies.length, 1);
  assert.deepEqual((await browser.go("/")).cookies, [], "and then it is good again");
});

test("short-lived tokens are used for four fifths of their lifetime", async () => {
  const fixture = await federatedFixture();
  fixture.tokenChanges = { expires_in: 60 };
  const browser = fixture.browser();
  await browser.signIn();
  fixture.provider.advance(47);
  await browser.go("/");
  assert.deepEqual(fixture.refreshed, []);
  fixture.provider.advance(1);
  await browser.go("/");
  assert.deepEqual(fixture.refreshed, ["rt-1"]);
});

test("forty parallel requests of one browser use the refresh token once, and all get the same new tokens", async () => {
  const { fixture, browser } = await signedIn();
  fixture.provider.advance(3590);
  const answers = await Promise.all(Array.from({ length: 40 }, () => browser.go("/", SCRIPT)));
  assert.deepEqual(fixture.refreshed, ["rt-1"]);
  assert.equal(new Set(answers.map((answer) => principalIn(answer).accessToken)).size, 1);
  fixture.provider.advance(3600);
  principalIn(await browser.go("/"));
  assert.deepEqual(fixture.refreshed, ["rt-1", "rt-2"]);
});

test("a late tab with the old cookie gets the same successor; the token isn't used again", async () => {
  const { fixture, browser } = await signedIn();
  const old = browser.cookies.get(SESSION) ?? "";
  fixture.provider.advance(3590);
  const fresh = principalIn(await browser.go("/")).accessToken;
  fixture.provider.advance(100);
  const late = fixture.browser();
  late.cookies.set(SESSION, old);
  assert.equal(principalIn(await late.go("/")).accessToken, fresh);
  assert.deepEqual(fixture.refreshed, ["rt-1"]);
});

test("with short-lived tokens a late tab gets the newest of the chain, never a used token", async () => {
  const fixture = await federatedFixture();
  fixture.tokenChanges = { expires_in: 60 };
  const browser = fixture.browser();
  await browser.signIn();
  const old = browser.cookies.get(SESSION) ?? "";
  fixture.provider.advance(50);
  await browser.go("/");
  fixture.provider.advance(50);
  const newest = principalIn(await browser.go("/")).accessToken;
  const late = fixture.browser();
  late.cookies.set(SESSION, old);
  assert.equal(principalIn(await late.go("/")).accessToken, newest);
  assert.deepEqual(fixture.refreshed, ["rt-1", "rt-2"]);
});

test("without rotation the refresh token is used again each time", async () => {
  const { fixture, browser } = await signedIn();
  fixture.onRefresh = () =>
    Response.json({
      access_token: `at-plain-${fixture.refreshed.length}`,
      token_type: "Bearer",
      expires_in: 60,
    });
  fixture.provider.advance(3590);
  for (const expected of ["at-plain-1", "at-plain-2", "at-plain-3"]) {
    assert.equal(principalIn(await browser.go("/")).accessToken, expected);
    fixture.provider.advance(50);
  }
  assert.deepEqual(fixture.refreshed, ["rt-1", "rt-1", "rt-1"]);
});

test("while the token is valid, an outage of the provider goes unnoticed, and retries are limited", async () => {
  const { fixture, browser } = await signedIn();
  const first = principalIn(await browser.go("/")).accessToken;
  fixture.onRefresh = () => Promise.reject(new TypeError("away"));
  fixture.provider.advance(3550);
  for (let request = 0; request < 5; request++)
    assert.equal(principalIn(await browser.go("/")).accessToken, first);
  assert.equal(fixture.refreshed.length, 1);
  fixture.provider.advance(4);
  await browser.go("/");
  assert.equal(fixture.refreshed.length, 2);
  fixture.onRefresh = undefined;
  fixture.provider.advance(4);
  assert.notEqual(principalIn(await browser.go("/")).accessToken, first);
});

test("after it has expired: 503, and the session is kept until the provider is back", async () => {
  const { fixture, browser } = await signedIn();
  for (const answer of [
    () => Promise.reject(new TypeError("away")),
    () => new Response("", { status: 503 }),
    () => Response.json({ error: "slow" }, { status: 429 }),
    () => Response.json({ error: "invalid_client" }, { status: 401 }),
  ]) {
    fixture.onRefresh = answer;
    fixture.provider.advance(3700);
    const page = await browser.go("/orders");
    assert.ok(page.status === 503 || page.status === 502, String(page.status));
    assert.match(page.body, /return_to=%2Forders/);
    const script = await browser.go("/orders", SCRIPT);
    assert.equal(script.headers.get("content-type"), "application/json");
    assert.ok(browser.cookies.has(SESSION));
  }
  refusedWith(await browser.go("/"), "provider_refused");
  fixture.onRefresh = undefined;
  fixture.provider.advance(4);
  principalIn(await browser.go("/"));
});

test("with isOptional, a user whose session can't be checked isn't treated as anonymous", async () => {
  const fixture = await federatedFixture({ isOptional: true });
  const browser = fixture.browser();
  const { location } = await browser.go("/signet/login");
  await browser.go(browser.answerTo(new URL(location ?? "")));
  fixture.onRefresh = () => new Response("", { status: 503 });
  fixture.provider.advance(3700);
  assert.equal((await browser.go("/")).status, 503);
  fixture.onRefresh = () => Response.json({ error: "invalid_grant" }, { status: 400 });
  fixture.provider.advance(4);
  const ended = await browser.go("/");
  assert.equal(ended.result.kind, "anonymous");
  assert.equal(browser.cookies.size, 0);
});

test("a final refusal by the provider ends the session: pages sign in again, scripts get 401", async () => {
  for (const error of ["invalid_grant", "access_denied", "interaction_required"]) {
    const { fixture, browser } = await signedIn();
    fixture.onRefresh = () => Response.json({ error }, { status: 400 });
    fixture.provider.advance(3590);
    const script = fixture.browser();
    script.cookies.set(SESSION, browser.cookies.get(SESSION) ?? "");
    assert.equal((await script.go("/", SCRIPT)).status, 401);
    assert.equal(script.cookies.size, 0);
    const page = await browser.go("/orders");
    assert.equal(page.status, 302);
    assert.ok(!browser.cookies.has(SESSION));
    assert.equal(fixture.refreshed.length, 1, "both heard of one answer");
    await browser.go(browser.answerTo(new URL(page.location ?? "")));
    principalIn(await browser.go("/orders"));
  }
});

test("a refreshed ID token of another user, sign-in, issuer or key ends the session", async () => {
  for (const changes of [
    { claims: { sub: "somebody-else" } },
    { claims: { nonce: "another" } },
    { claims: { auth_time: 1 } },
    { claims: { iss: "https://evil.example" } },
    { claims: { aud: "somebody-else" } },
    { header: { alg: "none" } },
    { claims: { at_hash: "wrong" } },
  ]) {
    const { fixture, browser } = await signedIn();
    fixture.idTokenChanges = changes;
    fixture.provider.advance(3590);
    assert.equal((await browser.go("/")).status, 302, JSON.stringify(changes));
    assert.ok(!browser.cookies.has(SESSION));
  }
});

test("userinfo is fetched again; another user's ends the session, an unavailable one changes nothing", async () => {
  const { fixture, browser } = await signedIn();
  fixture.provider.userinfo["email"] = "new@example.com";
  fixture.provider.advance(3590);
  assert.equal(principalIn(await browser.go("/")).user?.email, "new@example.com");
  fixture.provider.answers.set("/userinfo", () => new Response("", { status: 500 }));
  fixture.provider.advance(3590);
  assert.equal(principalIn(await browser.go("/")).user?.email, "new@example.com");
  fixture.provider.answers.delete("/userinfo");
  fixture.provider.userinfo["sub"] = "somebody-else";
  fixture.provider.advance(3590);
  assert.equal((await browser.go("/")).status, 302);
});

test("without a refresh token the session ends with the access token", async () => {
  const fixture = await federatedFixture();
  fixture.tokenChanges = { refresh_token: undefined };
  const browser = fixture.browser();
  await browser.signIn();
  fixture.provider.advance(3599);
  principalIn(await browser.go("/"));
  fixture.provider.advance(1);
  assert.equal((await browser.go("/")).status, 302);
  assert.equal(browser.cookies.has(SESSION), false);
});

test("without expires_in the ID token determines the lifetime", async () => {
  const fixture = await federatedFixture();
  fixture.tokenChanges = { expires_in: undefined };
  const browser = fixture.browser();
  await browser.signIn();
  fixture.provider.advance(3541);
  await browser.go("/");
  assert.deepEqual(fixture.refreshed, ["rt-1"]);
});
