import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findConsents } from "../../../../core/consents/consents.store.ts";
import { setUserStatus } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  answerOf,
  decide,
  follow,
  logIn,
  sessionCookie,
  showsConsent,
  showsLogin,
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
  let running: TestService;
  let org: TestOrganisation;
  let otto: TestOrganisation;
  let browser: TestBrowser;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords, clock });
    org = await makeOrganisation(running.service);
    otto = await withUser(running.service, org, "otto@acme.example");
    browser = testBrowser();
    await logIn(browser, org, await visit(browser, org));
  });
  after(() => running.close());

  /** An application that nobody has consented to yet. */
  async function strangeApp(): Promise<string> {
    const settings = { redirectUris: [REDIRECT_URI], homepageUri: "https://app.example/" };
    return (await makeClient(running.service, org.organisation, settings)).application.id;
  }
  const consentsTo = (applicationId: string, userId = org.user.id) =>
    findConsents(running.service.database.query, { orgId: org.organisation.id, applicationId, userId });
  const ask = (clientId: string, scope = "openid email", from = browser, more: Record<string, string> = {}) =>
    visit(from, org, { clientId, more: { scope, ...more } });
  const code = (page: TestPage) => answerOf(page).get("code");

  test("the page names the application, its scopes and the redirect host", async () => {
    const page = await ask(await strangeApp(), "openid phone offline_access");
    assert.ok(showsConsent(page));
    assert.deepEqual(
      [...page.body.matchAll(/data-scope="([^"]+)"/g)].map(([, name]) => name),
      ["openid", "phone", "offline_access"],
    );
    for (const shown of [
      "Acme",
      "Web",
      "user@acme.example",
      '<bdi class="host">app.example</bdi>',
      'id="consent-deny"',
    ])
      assert.ok(page.body.includes(shown), shown);
  });

  test("consent is remembered, also for a subset and in another browser; more scopes ask again and are added", async () => {
    const clientId = await strangeApp();
    assert.ok(code(await decide(browser, org, await ask(clientId))));
    assert.ok(code(await ask(clientId)));
    assert.ok(code(await ask(clientId, "email")));
    assert.equal(
      answerOf(await ask(clientId, "openid phone", browser, { prompt: "none" })).get("error"),
      "consent_required",
    );
    const more = await ask(clientId, "openid phone");
    assert.ok(showsConsent(more));
    assert.ok(code(await decide(browser, org, more)));
    const elsewhere = testBrowser();
    assert.ok(code(await logIn(elsewhere, org, await ask(clientId, "openid email phone", elsewhere))));
    const [kept, ...others] = await consentsTo(clientId);
    assert.deepEqual([...(kept?.scopes ?? [])].sort(), ["email", "openid", "phone"]);
    assert.equal(others.length, 0);
  });

  test("consent is for one user and one application", async () => {
    const [clientId, another] = [await strangeApp(), await strangeApp()];
    await decide(browser, org, await ask(clientId));
    assert.ok(showsConsent(await ask(another)));
    const ottos = testBrowser();
    assert.ok(showsConsent(await logIn(ottos, otto, await ask(clientId, undefined, ottos))));
  });

  test("denial is access_denied with the state, and is not remembered", async () => {
    const clientId = await strangeApp();
    const answer = answerOf(
      await decide(browser, org, await ask(clientId, "openid", browser, { state: "s" }), "deny"),
    );
    assert.equal(answer.get("error"), "access_denied");
    assert.equal(answer.get("state"), "s");
    assert.equal(answer.get("iss"), org.issuer);
    assert.equal(answer.get("code"), null);
    assert.ok(showsConsent(await ask(clientId)));
    assert.deepEqual(await consentsTo(clientId), []);
  });

  test("a form without a decision has no effect", async () => {
    const clientId = await strangeApp();
    const page = await ask(clientId);
    for (const decision of ["", "Allow", "yes"]) {
      const posted = await browser.post(`${org.issuer}/authorize`, { ...page.hidden, decision });
      assert.ok(showsConsent(await follow(browser, posted)), decision);
    }
    const body = new URLSearchParams(page.hidden).toString();
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      cookie: (sessionCookie(browser, org) ?? []).join("="),
    };
    const both = await fetch(`${org.issuer}/authorize`, {
      method: "POST",
      body: `${body}&decision=deny&decision=allow`,
      headers,
    });
    assert.match(both.url, /\/consent\?flow=/, "the question again");
    assert.deepEqual(await consentsTo(clientId), []);
  });

  test("a GET with the form's fields has no effect", async () => {
    const clientId = await strangeApp();
    const form = new URLSearchParams({
      ...(await ask(clientId)).hidden,
      decision: "allow",
      account: "other",
    });
    for (const path of ["authorize", "consent"])
      assert.ok(
        showsConsent(await follow(browser, await browser.get(`${org.issuer}/${path}?${form}`))),
        path,
      );
    assert.deepEqual(await consentsTo(clientId), []);
  });

  test("two concurrent consents end in one record of both", async () => {
    const clientId = await strangeApp();
    const second = testBrowser();
    await logIn(second, org, await visit(second, org));
    const pages = await Promise.all([ask(clientId, "openid email"), ask(clientId, "openid phone", second)]);
    const answers = await Promise.all([decide(browser, org, pages[0]), decide(second, org, pages[1])]);
    assert.ok(answers.every(code));
    const [kept, ...others] = await consentsTo(clientId);
    assert.deepEqual([...(kept?.scopes ?? [])].sort(), ["email", "openid", "phone"]);
    assert.equal(others.length, 0);
  });

  test("a decision without the CSRF token, or with another browser's, has no effect", async () => {
    const clientId = await strangeApp();
    const page = await ask(clientId);
    const second = testBrowser();
    await logIn(second, org, await visit(second, org));
    const foreign = (await ask(clientId, undefined, second)).hidden.csrf ?? "";
    const beforeSignIn = (await visit(testBrowser(), org)).hidden.csrf ?? "";
    for (const csrf of ["", "x", foreign, beforeSignIn, (page.hidden.csrf ?? "").slice(0, -1)]) {
      const again = await decide(browser, org, { ...page, hidden: { ...page.hidden, csrf } });
      assert.ok(showsConsent(again), csrf);
    }
    assert.deepEqual(await consentsTo(clientId), []);
  });

  test("a cross-site decision has no effect, even with the right cookie and token", async () => {
    const clientId = await strangeApp();
    const page = await ask(clientId);
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "cross-site", origin: running.baseUrl },
      { origin: "https://evil.example" },
      { origin: running.baseUrl.replace("http:", "https:") },
      { origin: `${running.baseUrl}.evil.example` },
    ]) {
      const posted = await browser.post(
        `${org.issuer}/authorize`,
        { ...page.hidden, decision: "allow" },
        headers,
      );
      assert.ok(showsConsent(await follow(browser, posted)), JSON.stringify(headers));
    }
    assert.deepEqual(await consentsTo(clientId), []);
    const own = { "sec-fetch-site": "same-origin", origin: "null" };
    const posted = await browser.post(`${org.issuer}/authorize`, { ...page.hidden, decision: "allow" }, own);
    assert.ok(code(posted), "our own form");
  });

  test("a session that ended before the decision leads to a sign-in and continues", async () => {
    const clientId = await strangeApp();
    const visitor = testBrowser();
    const page = await logIn(visitor, org, await ask(clientId, undefined, visitor));
    const signOut = await visitor.get(`${org.issuer}/end_session`);
    const kept = new Map(visitor.cookies);
    await visitor.post(`${org.issuer}/end_session`, signOut.hidden);
    for (const [name, value] of kept) visitor.cookies.set(name, value);
    const login = await decide(visitor, org, page);
    assert.ok(showsLogin(login));
    assert.deepEqual(await consentsTo(clientId), []);
    const resumed = await logIn(visitor, org, login);
    assert.ok(showsConsent(resumed));
    assert.ok(code(await decide(visitor, org, resumed)));
  });

  test("without a session the consent page is a sign-in, and a decision has no effect", async () => {
    const clientId = await strangeApp();
    const page = await ask(clientId);
    const stranger = testBrowser();
    assert.ok(showsLogin(await stranger.get(page.url)));
    assert.ok(showsLogin(await decide(stranger, org, page)));
    assert.deepEqual(await consentsTo(clientId), []);
  });

  test("another user's flow shows consent for the signed-in user", async () => {
    const clientId = await strangeApp();
    const page = await ask(clientId);
    const ottos = testBrowser();
    await logIn(ottos, otto, await visit(ottos, org));
    const shown = await ottos.get(page.url);
    assert.ok(showsConsent(shown) && shown.body.includes("otto@acme.example"));
    assert.ok(showsConsent(await decide(ottos, org, page)), "the other page's token is not theirs");
    assert.ok(code(await decide(ottos, org, shown)));
    assert.deepEqual(await consentsTo(clientId), [], "nothing in the first one's name");
    assert.equal((await consentsTo(clientId, otto.user.id)).length, 1);
  });

  test("an altered, missing or expired flow is rejected with a page", async () => {
    const page = await ask(await strangeApp());
    const flow = page.hidden.flow ?? "";
    const [body = "", seal = ""] = flow.split(".");
    const wider = Buffer.from(
      Buffer.from(body, "base64url").toString().replace("openid email", "openid email phone"),
    );
    for (const altered of [`${wider.toString("base64url")}.${seal}`, body, "", `${flow}.x`]) {
      for (const told of [
        await browser.get(`${org.issuer}/consent?flow=${altered}`),
        await decide(browser, org, { ...page, hidden: { ...page.hidden, flow: altered } }),
      ]) {
        assert.equal(told.status, 400, altered);
        assert.equal(told.location, undefined);
      }
    }
    assert.equal((await browser.get(`${org.issuer}/consent?flow=${flow}&flow=${flow}`)).status, 400);
    clock.advance(24 * 3_600_000);
    assert.equal((await browser.get(page.url)).status, 400);
    clock.advance(-24 * 3_600_000);
  });

  test("a user who was disabled meanwhile can't decide", async () => {
    const clientId = await strangeApp();
    const eve = await withUser(running.service, org, "eve@acme.example");
    const hers = testBrowser();
    const page = await logIn(hers, eve, await ask(clientId, undefined, hers));
    assert.ok(showsConsent(page));
    const { id } = eve.user;
    await setUserStatus(running.service, { orgId: org.organisation.id, id, disabled: true, actor: "test" });
    assert.ok(showsLogin(await decide(hers, org, page)));
    assert.deepEqual(await consentsTo(clientId, id), []);
  });
});
