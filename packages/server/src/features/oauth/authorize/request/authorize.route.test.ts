import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  answerOf,
  decide,
  follow,
  logIn,
  requestQuery,
  sessionCookie,
  showsAccountChoice,
  showsConsent,
  showsLogin,
  signInAndConsent,
  tokensOf,
  visit,
  withUser,
} from "../../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let databaseUrl: string;
  let running: TestService;
  let org: TestOrganisation;
  let otto: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, passwords: quickPasswords, clock });
    org = await makeOrganisation(running.service);
    otto = await withUser(running.service, org, "otto@acme.example");
  });
  after(() => running.close());

  async function signedIn(as = org): Promise<TestBrowser> {
    const browser = testBrowser();
    assert.ok(answerOf(await signInAndConsent(browser, as)).get("code"));
    clock.advance(60_000);
    return browser;
  }

  /** What the ID token says after a request that needs no more than a sign-in. */
  async function identify(browser: TestBrowser, more: Record<string, string> = {}, as = org) {
    const { asked, idToken, claims } = await tokensOf(browser, as, more);
    return { asked, idToken, ...claims };
  }

  const silently = async (browser: TestBrowser, more: Record<string, string> = {}) => {
    const page = await visit(browser, org, { more: { prompt: "none", ...more } });
    return answerOf(page).get("error") ?? "code";
  };

  test("prompt=none without a valid session is login_required", async () => {
    const browser = testBrowser();
    assert.equal(await silently(browser), "login_required");
    await visit(browser, org);
    assert.ok(sessionCookie(browser, org), "the login page gave a cookie");
    assert.equal(await silently(browser), "login_required");
  });

  test("prompt=none with a session issues a code with the same sub, sid and auth_time", async () => {
    const browser = await signedIn();
    const first = await identify(browser);
    clock.advance(300_000);
    const second = await identify(browser, { prompt: "none" });
    assert.equal(second.asked, false);
    const { sub, sid, auth_time } = second;
    assert.deepEqual(
      { sub, sid, auth_time },
      { sub: org.user.id, sid: first.sid, auth_time: first.auth_time },
    );
  });

  test("prompt=none without consent is consent_required", async () => {
    const browser = await signedIn();
    assert.equal(await silently(browser, { scope: "openid phone" }), "consent_required");
  });

  for (const [what, more] of [
    ["prompt=login", { prompt: "login" }],
    ["a passed max_age", { max_age: "59" }],
    ["max_age=0", { max_age: "0" }],
  ] as const) {
    test(`${what} reauthenticates with a later auth_time in the same session`, async () => {
      const browser = await signedIn();
      const first = await identify(browser);
      const again = await identify(browser, more);
      assert.equal(again.asked, true);
      assert.ok(again.auth_time >= first.auth_time + 60, `${again.auth_time}`);
      assert.equal(again.sid, first.sid);
    });
  }

  test("prompt=login can't be bypassed by requesting the consent page", async () => {
    const browser = await signedIn();
    const login = await visit(browser, org, { more: { prompt: "login" } });
    const flow = login.hidden.flow ?? "";
    for (const path of ["authorize", "consent"])
      assert.ok(
        showsLogin(await follow(browser, await browser.get(`${org.issuer}/${path}?flow=${flow}`))),
        path,
      );
    const decided = await browser.post(`${org.issuer}/authorize`, { ...login.hidden, decision: "allow" });
    assert.ok(showsLogin(decided));
  });

  test("a max_age that has not passed needs no sign-in", async () => {
    assert.equal((await identify(await signedIn(), { max_age: "61" })).asked, false);
  });

  test("login_hint fills the email field, escaped", async () => {
    const hint = `uma+x@acme.example"><script>alert(1)</script>`;
    const page = await visit(testBrowser(), org, { more: { login_hint: hint } });
    assert.ok(
      page.body.includes('value="uma+x@acme.example&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"'),
    );
    const long = await visit(testBrowser(), org, { more: { login_hint: "é".repeat(1_000) } });
    assert.match(long.body, /value="é{254}"/);
  });

  test("an id_token_hint of another user is login_required with prompt=none, and a sign-in otherwise", async () => {
    const { idToken } = await identify(await signedIn(otto), {}, otto);
    const browser = await signedIn();
    assert.equal(await silently(browser, { id_token_hint: idToken }), "login_required");
    const login = await visit(browser, org, { more: { id_token_hint: idToken } });
    assert.ok(showsLogin(login));
    const stubborn = answerOf(await logIn(browser, org, login));
    assert.equal(stubborn.get("error"), "login_required", "signed in as somebody else after all");
    clock.advance(1_000);
    const asOtto = await logIn(
      browser,
      otto,
      await visit(browser, org, { more: { id_token_hint: idToken } }),
    );
    assert.ok(answerOf(asOtto).get("code"));
  });

  test("an expired id_token_hint of the user is accepted, an invalid one never", async () => {
    const browser = await signedIn();
    const { idToken } = await identify(browser);
    clock.advance(3_700_000);
    assert.equal(await silently(browser, { id_token_hint: idToken }), "code");
    const [header = "", payload = "", signature = ""] = idToken.split(".");
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url");
    for (const hint of [
      "nonsense",
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${header}.${payload}.AAAA`,
    ]) {
      assert.equal(await silently(browser, { id_token_hint: hint }), "login_required", hint);
      assert.equal((await identify(browser, { id_token_hint: hint })).asked, true, hint);
      clock.advance(1_000);
    }
  });

  test("select_account: the current account continues without another page", async () => {
    const browser = await signedIn();
    const page = await visit(browser, org, { more: { prompt: "select_account" } });
    assert.ok(showsAccountChoice(page));
    assert.ok(page.body.includes(org.user.email));
    const chosen = await browser.post(`${org.issuer}/authorize`, { ...page.hidden, account: "current" });
    assert.ok(answerOf(await follow(browser, chosen)).get("code"));
  });

  test("select_account: another account signs in, and the application receives it", async () => {
    const browser = await signedIn();
    const page = await visit(browser, org, { more: { prompt: "select_account", state: "kept" } });
    const chosen = await browser.post(`${org.issuer}/authorize`, { ...page.hidden, account: "other" });
    const login = await follow(browser, chosen);
    assert.ok(showsLogin(login));
    const answer = answerOf(await logIn(browser, otto, login));
    assert.ok(answer.get("code"));
    assert.equal(answer.get("state"), "kept");
    assert.equal((await identify(browser)).sub, otto.user.id);
  });

  test("changing the account keeps prompt=consent", async () => {
    const browser = await signedIn();
    const page = await visit(browser, org, { more: { prompt: "select_account consent" } });
    for (const account of ["current", "other"]) {
      let next = await follow(
        browser,
        await browser.post(`${org.issuer}/authorize`, { ...page.hidden, account }),
      );
      if (account === "other") next = await logIn(browser, otto, next);
      assert.ok(showsConsent(next), account);
    }
    clock.advance(1_000);
    const consent = await visit(browser, org, { more: { prompt: "consent" } });
    const [, other = ""] = /href="([^"]*authorize\?flow=[^"]*)"/.exec(consent.body) ?? [];
    const login = await follow(browser, await browser.get(running.baseUrl + other));
    assert.ok(showsLogin(login));
    assert.ok(showsConsent(await logIn(browser, org, login)));
  });

  test("a cross-site form can't choose an account", async () => {
    const browser = await signedIn();
    const page = await visit(browser, org, { more: { prompt: "select_account" } });
    const forged = { flow: page.hidden.flow ?? "", account: "other" };
    assert.ok(showsAccountChoice(await browser.post(`${org.issuer}/authorize`, forged)));
    const neither = await browser.post(`${org.issuer}/authorize`, { ...page.hidden, account: "somebody" });
    assert.ok(showsAccountChoice(neither));
  });

  test("a cross-site POST is repeated by GET with 303", async () => {
    const browser = await signedIn();
    const query = requestQuery(org, { more: { state: "a b&c=ü", flow: "unknown here", utm_source: "x" } });
    const posted = await browser.post(
      `${org.issuer}/authorize`,
      Object.fromEntries(new URLSearchParams(query)),
      {
        origin: "https://app.example",
        "sec-fetch-site": "cross-site",
      },
    );
    assert.equal(posted.status, 303);
    assert.equal(posted.headers.get("cache-control"), "no-store");
    const { pathname, searchParams } = new URL(posted.location ?? "");
    assert.equal(pathname, `/oauth/${org.organisation.id}/authorize`);
    assert.deepEqual(Object.fromEntries(searchParams), Object.fromEntries(new URLSearchParams(query)));
    const answer = answerOf(await follow(browser, posted));
    assert.ok(answer.get("code"));
    assert.equal(answer.get("state"), "a b&c=ü");
  });

  test("a cross-site POST keeps its errors: repeated, empty, missing and oversized parameters", async () => {
    const browser = testBrowser();
    const send = async (body: string) => {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const response = await fetch(`${org.issuer}/authorize`, {
        method: "POST",
        body,
        headers,
        redirect: "manual",
      });
      const location = response.headers.get("location");
      return location
        ? follow(browser, await browser.get(new URL(location, running.baseUrl).href))
        : response;
    };
    const repeated = await send(`${requestQuery(org)}&scope=openid`);
    assert.ok("location" in repeated && answerOf(repeated).get("error") === "invalid_request");
    assert.equal((await send("")).status, 400);
    assert.equal((await send(requestQuery(org, { more: { client_id: undefined } }))).status, 400);
    assert.equal((await send(requestQuery(org, { more: { state: "s".repeat(12_000) } }))).status, 414);
    assert.equal((await send(`${requestQuery(org)}&x=${"x".repeat(70_000)}`)).status, 413);
    assert.equal((await send(`${requestQuery(org)}&x=%zz`)).status, 400);
  });

  test("a body of another content type is rejected with a page", async () => {
    for (const path of ["authorize", "login", "end_session"]) {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${org.issuer}/${path}`, {
        method: "POST",
        body: "{}",
        headers,
        redirect: "manual",
      });
      assert.equal(response.status, 415, path);
      assert.match(response.headers.get("content-type") ?? "", /^text\/html/, path);
    }
  });

  test("a flow begun at one node continues at another", async () => {
    const { baseUrl } = running;
    const second = await startTestService({ databaseUrl, clock, passwords: quickPasswords, baseUrl });
    try {
      const atSecond = { ...org, issuer: org.issuer.replace(baseUrl, second.baseUrl) };
      const browser = testBrowser();
      const login = await visit(browser, org, { more: { state: "kept" } });
      const consent = await logIn(browser, atSecond, login);
      const page = showsConsent(consent) ? await decide(browser, org, consent) : consent;
      assert.equal(answerOf(page).get("state"), "kept");
      assert.equal(answerOf(page).get("iss"), org.issuer);
      assert.ok(answerOf(await visit(browser, atSecond, { more: { prompt: "none" } })).has("code"));
    } finally {
      await second.close();
    }
  });

  test("RequireConsent=false skips the consent page", async () => {
    const settings = { redirectUris: [REDIRECT_URI], requireConsent: false };
    const { application } = await makeClient(running.service, org.organisation, settings);
    const browser = testBrowser();
    const asked = { clientId: application.id };
    assert.ok(answerOf(await logIn(browser, org, await visit(browser, org, asked))).get("code"));
    const insisted = await visit(browser, org, { ...asked, more: { prompt: "consent" } });
    assert.ok(showsConsent(insisted), "prompt=consent shows it, whatever else holds");
  });
});
