import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogoutMemory } from "../sign-in/logout-memory.ts";
import {
  type FederatedFixture,
  federatedFixture,
  principalIn,
  refusedWith,
} from "../testing/federated-fixture.ts";
import type { TokenChanges } from "../testing/test-provider.ts";

const SESSION = "__Host-signet-session";

async function signedIn(options = {}) {
  const fixture = await federatedFixture({}, options);
  const browser = fixture.browser();
  await browser.signIn();
  return { fixture, browser };
}

/** The provider's call: it has no cookies and no origin. */
const tell = (fixture: FederatedFixture, token: string, filter = fixture.filter) =>
  fixture.browser(filter).send("/signet/back-channel-logout", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ logout_token: token }).toString(),
  });

test("a session that ended at the provider ends here with its next request, and no other session does", async () => {
  const { fixture, browser } = await signedIn();
  fixture.idTokenChanges = { claims: { sid: "session-2" } };
  const other = fixture.browser();
  await other.signIn();
  const told = await tell(fixture, await fixture.provider.logoutToken());
  assert.deepEqual([told.status, told.headers.get("cache-control")], [200, "no-store"]);
  assert.equal((await browser.go("/")).status, 302);
  assert.ok(!browser.cookies.has(SESSION));
  principalIn(await other.go("/"));
});

test("without sid all sessions of the user end, except one that starts later, even if the message is repeated", async () => {
  const { fixture, browser } = await signedIn();
  const token = await fixture.provider.logoutToken({ claims: { sid: undefined } });
  assert.equal((await tell(fixture, token)).status, 200);
  assert.equal((await browser.go("/")).status, 302);
  fixture.provider.advance(1);
  const again = fixture.browser();
  await again.signIn();
  await tell(fixture, token);
  principalIn(await again.go("/"));
});

test("a session that ended before its sign-in completed doesn't start", async () => {
  const fixture = await federatedFixture();
  const browser = fixture.browser();
  const { location } = await browser.go("/");
  await tell(fixture, await fixture.provider.logoutToken());
  refusedWith(await browser.go(browser.answerTo(new URL(location ?? ""))), "login_state");
  assert.equal(browser.cookies.size, 0);
});

test("a message from elsewhere, for another client, or that is no logout token ends nothing", async () => {
  const { fixture, browser } = await signedIn();
  const wrong: TokenChanges[] = [
    { claims: { iss: "https://evil.example" } },
    { claims: { aud: "somebody-else" } },
    { claims: { events: undefined } },
    { claims: { nonce: "n" } },
    { claims: { exp: 1 } },
    { claims: { sid: undefined, sub: undefined } },
    { header: { alg: "none" } },
    { header: { kid: "unknown" } },
  ];
  for (const changes of wrong) {
    const answer = await tell(fixture, await fixture.provider.logoutToken(changes));
    assert.equal(answer.status, 400, JSON.stringify(changes));
    assert.equal(JSON.parse(answer.body).error, "invalid_request");
  }
  assert.equal((await tell(fixture, await fixture.provider.idToken())).status, 400);
  principalIn(await browser.go("/"));
});

test("the body must be a form with one token, and of limited size", async () => {
  const { fixture } = await signedIn();
  const token = await fixture.provider.logoutToken();
  const form = "application/x-www-form-urlencoded";
  for (const [type, body] of [
    ["application/json", JSON.stringify({ logout_token: token })],
    [form, "other=1"],
    [form, `logout_token=${token}&logout_token=${token}`],
    [form, `logout_token=${"x".repeat(70_000)}`],
    [form, ""],
  ] as const) {
    const init = { method: "POST", headers: { "content-type": type }, body };
    const answer = await fixture.browser().send("/signet/back-channel-logout", init);
    refusedWith(answer, "request_malformed");
    assert.equal(answer.status, 400);
  }
});

test("an interrupted body is rejected, and is not a programming error", async () => {
  const { fixture } = await signedIn();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
  const init: RequestInit & { duplex: "half" } = { method: "POST", headers, body, duplex: "half" };
  refusedWith(await fixture.browser().send("/signet/back-channel-logout", init), "request_malformed");
});

test("processes with a shared store all learn of it", async () => {
  const shared = await signedIn({ logoutMemory: createLogoutMemory({ clock: () => 1_767_225_600_000 }) });
  const copy = shared.fixture.browser(shared.fixture.anotherProcess());
  copy.cookies.set(SESSION, shared.browser.cookies.get(SESSION) ?? "");
  principalIn(await copy.go("/"));
  await tell(shared.fixture, await shared.fixture.provider.logoutToken());
  assert.equal((await copy.go("/")).status, 302);
});

test("while the store is unavailable, nobody is let in, nobody is signed out, and the provider retries", async () => {
  let isAway = false;
  const memory = createLogoutMemory();
  const away = async () => {
    if (isAway) throw new Error("store away");
  };
  const logoutMemory = {
    remember: async (...what: Parameters<typeof memory.remember>) => {
      await away();
      return memory.remember(...what);
    },
    recall: async (keys: readonly string[]) => {
      await away();
      return memory.recall(keys);
    },
  };
  const { fixture, browser } = await signedIn({ logoutMemory });
  isAway = true;
  assert.equal((await browser.go("/")).status, 503);
  assert.ok(browser.cookies.has(SESSION));
  assert.equal((await tell(fixture, await fixture.provider.logoutToken())).status, 503);
  isAway = false;
  principalIn(await browser.go("/"));
});
