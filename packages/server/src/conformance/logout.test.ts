/** OpenID conformance: logout. All behaviours: docs/openid-behaviours.md. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { deliverDueLogouts } from "../core/backchannel-logout/delivery.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../testing/fakes/browser.ts";
import { codeSource } from "../testing/fakes/code-source.ts";
import { type LogoutReceiver, startLogoutReceiver } from "../testing/fakes/logout-receiver.ts";
import { forEachProvider, type Provider } from "../testing/fakes/provider.ts";
import { answerOf, visit } from "../testing/fixtures/visit.ts";
import { payloadOf } from "../testing/probes/answers.ts";
import { makeClient, REDIRECT_URI } from "../testing/test-service.ts";

const BYE = "https://app.example/bye";
type Parameters = Record<string, string>;

/** A good hint, spoilt. */
const spoilt: Readonly<Record<string, (idToken: string) => Parameters>> = {
  "a bad hint": () => ({ id_token_hint: "bad" }),
  "a modified hint": (idToken) => {
    const [header, , signature] = idToken.split(".");
    const payload = Buffer.from(JSON.stringify({ ...payloadOf(idToken), sid: "x" })).toString("base64url");
    return { id_token_hint: `${header}.${payload}.${signature}` };
  },
  "an alg=none hint": (idToken) => {
    const header = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url");
    return { id_token_hint: `${header}.${idToken.split(".")[1]}.` };
  },
  "a missing hint": () => ({}),
};
const addresses: Readonly<Record<string, string>> = {
  "an address that is not registered": "https://app.example/other",
  "an address with a query added": `${BYE}?foo=bar`,
};

forEachProvider((provider) => {
  const ways: Record<string, (browser: TestBrowser, parameters: Parameters) => Promise<TestPage>> = {
    GET: (browser, parameters) =>
      browser.get(`${provider().org.issuer}/end_session?${new URLSearchParams(parameters)}`),
    POST: (browser, parameters) => browser.post(`${provider().org.issuer}/end_session`, parameters),
  };
  async function signedIn() {
    const source = codeSource(provider().org);
    return { browser: source.browser, idToken: (await source.tokens()).idToken };
  }
  const isSignedIn = async (browser: TestBrowser) => {
    const answer = answerOf(await visit(browser, provider().org, { more: { prompt: "none" } }));
    return (answer.get("error") ?? "") !== "login_required";
  };
  function assertPage(page: TestPage, holds: RegExp): void {
    assert.deepEqual([page.status, page.location], [200, undefined]);
    assert.match(page.body, holds);
  }
  const confirms = /id="logout-confirm"/;
  const done = /You’re signed out/;

  for (const [way, end] of Object.entries(ways)) {
    test(`${way} with hint, registered URI and state redirects with exactly that state, and prompt=none fails`, async () => {
      for (const state of ["s ✓&=%+", undefined]) {
        const { browser, idToken } = await signedIn();
        const sent = { id_token_hint: idToken, post_logout_redirect_uri: BYE };
        const page = await end(browser, state === undefined ? sent : { ...sent, state });
        const { origin, pathname, searchParams } = new URL(page.location ?? "");
        assert.equal(origin + pathname, BYE);
        assert.deepEqual([...searchParams], state === undefined ? [] : [["state", state]]);
        assert.equal(await isSignedIn(browser), false);
      }
    });

    for (const [what, spoil] of Object.entries(spoilt))
      test(`${what} by ${way} is a page, never a redirect, also after confirmation`, async () => {
        const { browser, idToken } = await signedIn();
        const sent = { ...spoil(idToken), post_logout_redirect_uri: BYE, state: "s" };
        assertPage(await end(testBrowser(), sent), done);
        const page = await end(browser, sent);
        assertPage(page, confirms);
        assert.ok(await isSignedIn(browser), "it only asks");
        assertPage(await browser.post(page.url.split("?")[0] ?? "", page.hidden), done);
        assert.equal(await isSignedIn(browser), false);
      });

    for (const [what, address] of Object.entries(addresses))
      test(`${what} by ${way} is a page that says so, never a redirect`, async () => {
        const { browser, idToken } = await signedIn();
        const sent = { id_token_hint: idToken, post_logout_redirect_uri: address, state: "s" };
        for (const one of [browser, testBrowser()]) {
          const page = await end(one, sent);
          assertPage(page, done);
          assert.match(page.body, /\(post_logout_redirect_uri\) is not registered/);
        }
      });

    test(`a hint without an address by ${way} signs out, and is a page`, async () => {
      for (const state of [{}, { state: "s" }] as Parameters[]) {
        const { browser, idToken } = await signedIn();
        const page = await end(browser, { id_token_hint: idToken, ...state });
        assertPage(page, done);
        assert.doesNotMatch(page.body, /post_logout_redirect_uri/);
        assert.equal(await isSignedIn(browser), false);
      }
    });

    test(`no parameters, or state alone, by ${way}: a confirmation or the signed-out page`, async () => {
      const { browser } = await signedIn();
      for (const parameters of [{}, { state: "s" }] as Parameters[]) {
        assertPage(await end(browser, parameters), confirms);
        assertPage(await end(testBrowser(), parameters), done);
      }
      assert.ok(await isSignedIn(browser));
    });
  }
});

/** An application's listener, and people who sign out of applications that want to be told there. */
function backchannel(provider: () => Provider) {
  let started: LogoutReceiver | undefined;
  before(async () => {
    started = await startLogoutReceiver();
  });
  after(() => started?.close());
  const receiver = (): LogoutReceiver => {
    assert.ok(started);
    return started;
  };
  const deliver = () =>
    deliverDueLogouts({ ...provider().running.service, baseUrl: provider().running.baseUrl });
  const signOutOf = async (path: string) => {
    const { running, org } = provider();
    const settings = { redirectUris: [REDIRECT_URI], backchannelLogoutUri: receiver().uri(path) };
    const client = await makeClient(running.service, org.organisation, settings);
    const source = codeSource(org);
    const { idToken } = await source.tokens({ nonce: "n" }, client);
    await source.browser.post(`${org.issuer}/end_session`, { id_token_hint: idToken });
    await deliver();
    return { client, claims: payloadOf(idToken) };
  };
  return { receiver, deliver, signOutOf };
}

forEachProvider(
  (provider) => {
    const { receiver, deliver, signOutOf } = backchannel(provider);

    test("posts a logout+jwt with iss, aud, iat, jti, sub, sid and one empty event, without nonce", async () => {
      const { org, clock } = provider();
      const { client, claims } = await signOutOf("/told");
      const [message, ...more] = receiver().at("/told");
      assert.ok(message && more.length === 0);
      assert.equal(message.contentType, "application/x-www-form-urlencoded");
      assert.deepEqual([...message.body.keys()], ["logout_token"]);
      const keys = createRemoteJWKSet(new URL(`${org.issuer}/.well-known/jwks.json`));
      const { payload } = await jwtVerify(message.token, keys, {
        issuer: org.issuer,
        audience: client.application.id,
        typ: "logout+jwt",
        currentDate: new Date(clock()),
      });
      assert.equal(Object.keys(payload).sort().join(" "), "aud events exp iat iss jti sid sub");
      assert.deepEqual(payload["events"], { "http://schemas.openid.net/event/backchannel-logout": {} });
      assert.deepEqual([payload.sub, payload["sid"]], [claims["sub"], claims["sid"]]);
    });

    test("retries a logout token with increasing delays", async () => {
      receiver().answer("/down", 503);
      await signOutOf("/down");
      for (const [wait, tries] of [
        [4_999, 1],
        [1, 2],
        [29_999, 2],
        [1, 3],
      ] as const) {
        provider().clock.advance(wait);
        await deliver();
        assert.equal(receiver().at("/down").length, tries, `${wait}`);
      }
    });

    test("never follows a redirect with a logout token", async () => {
      receiver().answer("/moved", 302);
      await signOutOf("/moved");
      assert.equal(receiver().at("/moved").length, 1);
      assert.deepEqual(receiver().at("/elsewhere"), []);
    });
  },
  { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" },
);

forEachProvider((provider) => {
  const { receiver, signOutOf } = backchannel(provider);

  test("never sends a logout token to a private address unless the configuration allows it", async () => {
    await signOutOf("/private");
    assert.deepEqual(receiver().received, []);
  });
});
