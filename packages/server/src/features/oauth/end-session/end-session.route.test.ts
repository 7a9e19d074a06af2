import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { credentials, postForm, refresh } from "../../../testing/fixtures/client.ts";
import {
  answerOf,
  follow,
  sessionCookie,
  tokensOf,
  visit,
  withUser,
} from "../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const BYE = "https://app.example/bye";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let otto: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords, clock });
    org = await makeOrganisation(running.service);
    otto = await withUser(running.service, org, "otto@acme.example");
  });
  after(() => running.close());

  interface SignedIn {
    readonly browser: TestBrowser;
    readonly idToken: string;
  }
  async function signedIn(as = org, client = org.web): Promise<SignedIn> {
    const browser = testBrowser();
    const { idToken } = await tokensOf(browser, as, {}, client);
    return { browser, idToken };
  }
  const end = (browser: TestBrowser, parameters: Record<string, string> = {}) =>
    browser.get(`${org.issuer}/end_session?${new URLSearchParams(parameters)}`);
  const post = (browser: TestBrowser, form: Record<string, string>, headers?: Record<string, string>) =>
    browser.post(`${org.issuer}/end_session`, form, headers);
  const lives = async (browser: TestBrowser) =>
    answerOf(await visit(browser, org, { more: { prompt: "none" } })).has("code");
  const asks = (page: TestPage) => page.status === 200 && page.body.includes('id="logout-confirm"');
  const saysDone = (page: TestPage) => page.status === 200 && page.body.includes("You’re signed out");

  async function assertStays({ browser }: SignedIn, page: TestPage, what: string) {
    assert.ok(asks(page), what);
    assert.equal(page.location, undefined, what);
    assert.ok(await lives(browser), what);
  }

  test("a hint, a registered URI and a state redirect to that URI with the state, and the session ends", async () => {
    const { browser, idToken } = await signedIn();
    const kept = sessionCookie(browser, org);
    const state = `a b&c=d#e?f+g%20"'<\\✓`;
    const page = await end(browser, { id_token_hint: idToken, post_logout_redirect_uri: BYE, state });
    assert.equal(page.status, 302);
    const { origin, pathname, searchParams, hash } = new URL(page.location ?? "");
    assert.equal(origin + pathname + hash, BYE);
    assert.deepEqual([...searchParams], [["state", state]]);
    assert.equal(page.headers.get("cache-control"), "no-store");
    assert.equal(sessionCookie(browser, org), undefined, "the cookie is cleared");
    assert.equal(await lives(browser), false);
    const [name = "", value = ""] = kept ?? [];
    browser.cookies.set(name, value);
    assert.equal(await lives(browser), false, "and so is what it stood for");
  });

  test("a redirect without state has none, and the URI's query is kept", async () => {
    const first = await signedIn();
    assert.equal(
      (await end(first.browser, { id_token_hint: first.idToken, post_logout_redirect_uri: BYE })).location,
      BYE,
    );
    const settings = { redirectUris: [REDIRECT_URI], postLogoutRedirectUris: [`${BYE}?tenant=a%2Fb`] };
    const client = await makeClient(running.service, org.organisation, settings);
    const second = await signedIn(org, client);
    const asked = {
      id_token_hint: second.idToken,
      post_logout_redirect_uri: `${BYE}?tenant=a%2Fb`,
      state: "s",
    };
    assert.equal((await end(second.browser, asked)).location, `${BYE}?tenant=a%2Fb&state=s`);
  });

  test("the session's tokens end with it, those with offline_access stay", async () => {
    const { browser, idToken } = await signedIn();
    const bound = await tokensOf(browser, org, { scope: "openid email" });
    const lasting = await tokensOf(browser, org, { scope: "openid offline_access" });
    const elsewhere = await tokensOf(testBrowser(), org);
    await end(browser, { id_token_hint: idToken });
    const active = async (token: string) =>
      (await postForm(`${org.issuer}/introspect`, { token, ...credentials(org.web) })).body["active"];
    assert.equal(await active(bound.accessToken), false);
    assert.equal((await refresh(org, bound.refreshToken)).body["error"], "invalid_grant");
    assert.equal(await active(lasting.accessToken), true);
    assert.equal((await refresh(org, lasting.refreshToken)).status, 200);
    assert.equal((await refresh(org, elsewhere.refreshToken)).status, 200, "another browser's");
  });

  test("an expired ID token is accepted as a hint", async () => {
    const { browser, idToken } = await signedIn();
    clock.advance(3_700_000);
    const page = await end(browser, { id_token_hint: idToken, post_logout_redirect_uri: BYE });
    assert.equal(page.location, BYE);
    assert.equal(await lives(browser), false);
  });

  test("an invalid, modified, unsigned or foreign hint asks for confirmation and redirects nowhere", async () => {
    const here = await signedIn();
    const { accessToken, refreshToken } = await tokensOf(here.browser, org);
    const other = await makeOrganisation(running.service, "Other");
    const gone = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      postLogoutRedirectUris: [BYE],
    });
    const ofGone = (await tokensOf(here.browser, org, {}, gone)).idToken;
    const key = { orgId: org.organisation.id, id: gone.application.id, actor: "test" };
    await setApplicationStatus(running.service, { ...key, disabled: true });
    const [header = "", payload = "", signature = ""] = here.idToken.split(".");
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
    const hints: Record<string, string> = {
      nonsense: "nonsense",
      "cut short": here.idToken.slice(0, -1),
      "another user": `${header}.${encode({ ...claims, sub: otto.user.id })}.${signature}`,
      "the same, spelled anew": `${header}.${encode(claims)} .${signature}`,
      "alg none": `${encode({ alg: "none", typ: "JWT" })}.${payload}.`,
      "alg none with a signature": `${encode({ alg: "none", typ: "JWT" })}.${payload}.${signature}`,
      "alg HS256": `${encode({ alg: "HS256", typ: "JWT" })}.${payload}.${signature}`,
      "an access token": accessToken,
      "a refresh token": refreshToken,
      "another organisation's": (await tokensOf(testBrowser(), other)).idToken,
      "a disabled application's": ofGone,
      "a session id": "01a1fd3c-484e-78bb-9893-e02106c1d59d",
    };
    for (const [what, hint] of Object.entries(hints)) {
      const asked = { id_token_hint: hint, post_logout_redirect_uri: BYE, state: "s" };
      const page = await end(here.browser, asked);
      await assertStays(here, page, what);
      assert.match(page.body, /id="hint-invalid"/, what);
      if (what !== "another user") continue;
      const done = await post(here.browser, page.hidden);
      assert.ok(saysDone(done), "after a yes it still goes nowhere");
      assert.match(done.body, /id="hint-invalid"/);
      assert.equal(await lives(here.browser), false);
      await tokensOf(here.browser, org);
    }
  });

  test("a GET without a hint signs no user out", async () => {
    const here = await signedIn();
    const clientId = org.web.application.id;
    const csrf = (await end(here.browser)).hidden.csrf ?? "";
    const asked: Record<string, string>[] = [
      {},
      { state: "s" },
      { post_logout_redirect_uri: BYE },
      { post_logout_redirect_uri: BYE, client_id: clientId, state: "s" },
      { client_id: "unknown" },
      { csrf },
      { id_token_hint: "" },
    ];
    for (const parameters of asked) {
      const page = await end(here.browser, parameters);
      await assertStays(here, page, JSON.stringify(parameters));
      assert.doesNotMatch(page.body, /id="hint-invalid"/, JSON.stringify(parameters));
    }
    const named = await end(here.browser, { post_logout_redirect_uri: BYE, client_id: clientId });
    assert.ok(saysDone(await post(here.browser, named.hidden)), "anybody can name a client: no redirect");
  });

  test("an unregistered URI is never redirected to, though the hint signs out", async () => {
    const here = await signedIn();
    for (const address of [
      `${BYE}?added=1`,
      `${BYE}/`,
      `${BYE}#x`,
      "https://app.example/",
      "https://app.example/BYE",
      "https://app.example/b%79e",
      "HTTPS://app.example/bye",
      "https://app.example:443/bye",
      "https://app.example@evil.example/bye",
      "https://app.example.evil.example/bye",
      "https://app.example/x/..;/bye",
      "//app.example/bye",
      "https://evil.example/",
      REDIRECT_URI,
      "javascript:alert(1)",
    ]) {
      const asked = { id_token_hint: here.idToken, post_logout_redirect_uri: address, state: "s" };
      for (const browser of [here.browser, testBrowser()]) {
        const page = await end(browser, asked);
        assert.ok(saysDone(page), address);
        assert.equal(page.location, undefined, address);
      }
      assert.equal(await lives(here.browser), false, address);
      await tokensOf(here.browser, org);
    }
  });

  test("the page says that the address is not registered, without repeating it", async () => {
    const client_id = org.web.application.id;
    const says = (page: TestPage) => page.body.includes('id="address-unregistered"');
    const evil = "https://evil.example/call-us";
    for (const address of [evil, `${BYE}?added=1`, "javascript:alert(1)", "Call +45 12345678"]) {
      const here = await signedIn();
      const named = { client_id, post_logout_redirect_uri: address, state: "s" };
      const confirmation = await end(here.browser, named);
      await assertStays(here, confirmation, address);
      const hinted = await end(here.browser, { ...named, id_token_hint: here.idToken });
      assert.ok(saysDone(hinted), address);
      for (const page of [confirmation, hinted, await end(testBrowser(), named)]) {
        assert.ok(says(page), address);
        const visible = page.body.replaceAll(/<input type="hidden"[^>]*>/g, "");
        assert.ok(!visible.includes(address), address);
      }
    }
    const here = await signedIn();
    for (const parameters of [
      { post_logout_redirect_uri: BYE, client_id },
      { post_logout_redirect_uri: evil },
      { id_token_hint: "x", post_logout_redirect_uri: evil },
      { client_id },
    ] as Record<string, string>[])
      assert.ok(!says(await end(here.browser, parameters)), JSON.stringify(parameters));
  });

  test("a client_id that contradicts the hint invalidates it", async () => {
    const here = await signedIn();
    const hinted = { id_token_hint: here.idToken, post_logout_redirect_uri: BYE };
    for (const clientId of [org.native.id, "unknown", "01a1fd3c-484e-78bb-9893-e02106c1d59d"])
      await assertStays(here, await end(here.browser, { ...hinted, client_id: clientId }), clientId);
    assert.equal((await end(here.browser, { ...hinted, client_id: org.web.application.id })).location, BYE);
  });

  test("another user's hint asks for confirmation, then redirects to the hint's URI", async () => {
    const { idToken } = await signedIn(otto);
    const here = await signedIn();
    const page = await end(here.browser, {
      id_token_hint: idToken,
      post_logout_redirect_uri: BYE,
      state: "s",
    });
    await assertStays(here, page, "another user's hint");
    assert.ok(page.body.includes(org.user.email) && !page.body.includes(otto.user.email));
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.ok(!policy.includes("form-action"), "browsers would hold it against the redirect too");
    const done = await post(here.browser, page.hidden);
    assert.equal(done.status, 303);
    assert.equal(done.location, `${BYE}?state=s`);
    assert.equal(await lives(here.browser), false);
  });

  test("an ID token of the user's older session is accepted as a hint", async () => {
    const { idToken } = await signedIn();
    const { browser } = await signedIn();
    assert.equal(
      (await end(browser, { id_token_hint: idToken, post_logout_redirect_uri: BYE })).location,
      BYE,
    );
    assert.equal(await lives(browser), false);
  });

  test("POST works like GET", async () => {
    const { browser, idToken } = await signedIn();
    const asked = { id_token_hint: idToken, post_logout_redirect_uri: BYE, state: "s" };
    assert.ok(asks(await post(browser, { state: "s" })));
    assert.ok(await lives(browser));
    const page = await post(browser, asked);
    assert.equal(page.status, 303);
    assert.equal(page.location, `${BYE}?state=s`);
    assert.equal(await lives(browser), false);
    assert.equal((await post(testBrowser(), asked)).location, `${BYE}?state=s`);
  });

  test("a cross-site POST without the cookie is repeated by GET", async () => {
    const { browser, idToken } = await signedIn();
    const asked = { id_token_hint: idToken, post_logout_redirect_uri: BYE, state: "s ✓" };
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://app.example" }]) {
      const withheld = await post(testBrowser(), asked, headers);
      assert.equal(withheld.status, 303, JSON.stringify(headers));
      const { pathname, searchParams } = new URL(withheld.location ?? "");
      assert.equal(pathname, `/oauth/${org.organisation.id}/end_session`);
      assert.deepEqual(Object.fromEntries(searchParams), asked);
      assert.ok(await lives(browser));
    }
    const again = await browser.get(`${org.issuer}/end_session?${new URLSearchParams(asked)}`);
    assert.equal(new URL(again.location ?? "").searchParams.get("state"), "s ✓");
    assert.equal(await lives(browser), false);
  });

  test("only the form of the confirmation page confirms", async () => {
    const here = await signedIn();
    const page = await end(here.browser);
    const foreign = (await end((await signedIn()).browser)).hidden.csrf ?? "";
    for (const csrf of ["", "x", foreign]) await assertStays(here, await post(here.browser, { csrf }), csrf);
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
    ])
      await assertStays(here, await post(here.browser, page.hidden, headers), JSON.stringify(headers));
    assert.ok(saysDone(await post(here.browser, page.hidden)));
    assert.equal(await lives(here.browser), false);
  });

  test("without a session the page says so, or a valid hint redirects to the registered URI", async () => {
    const { idToken } = await signedIn();
    const browser = testBrowser();
    for (const parameters of [
      {},
      { state: "s" },
      { post_logout_redirect_uri: BYE },
      { post_logout_redirect_uri: BYE, client_id: org.web.application.id },
      { id_token_hint: "x", post_logout_redirect_uri: BYE },
    ])
      assert.ok(
        saysDone(await end(browser, parameters as Record<string, string>)),
        JSON.stringify(parameters),
      );
    const asked = { id_token_hint: idToken, post_logout_redirect_uri: BYE, state: "s" };
    assert.equal((await end(browser, asked)).location, `${BYE}?state=s`);
  });

  test("repeated and malformed parameters are rejected with a page and sign no user out", async () => {
    const { browser, idToken } = await signedIn();
    const query = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: BYE }).toString();
    for (const added of [
      "&state=a&state=b",
      `&id_token_hint=${idToken}`,
      "&post_logout_redirect_uri=x",
      "&x=%zz",
      "&x=%00",
    ]) {
      const page = await browser.get(`${org.issuer}/end_session?${query}${added}`);
      assert.equal(page.status, 400, added);
      assert.equal(page.location, undefined, added);
    }
    assert.ok(await lives(browser));
  });

  test("the menu of the account and of the console signs out without another question", async () => {
    const { browser } = await signedIn();
    const menu = (await follow(browser, await browser.get(`${org.issuer}/account/profile`))).body;
    const form = /<form method="post" action="([^"]+)">(?:(?!<form)[\s\S])*id="nav-sign-out"/.exec(menu);
    assert.ok(form, "a form, which works without scripts");
    const csrf = /name="csrf" value="([^"]+)"/.exec(form[0])?.[1] ?? "";
    const uri = new URL(form[1] ?? "", org.issuer).href;
    const foreign = await browser.post(uri, { csrf: "of-somebody-else" });
    assert.ok(asks(foreign), "without the token it asks");
    assert.ok(await lives(browser));
    const page = await browser.post(uri, { csrf });
    assert.ok(saysDone(page));
    assert.match(page.body, /class="button primary" id="to-account"[^>]*>Sign in</);
    assert.equal(await lives(browser), false);
  });
});
