import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../testing/fakes/browser.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import { logIn, showsConsent, signInAndConsent, visit } from "../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let secure: TestService;
  let org: TestOrganisation;
  /** The organisation of the service on https, as its loopback port shows it. */
  let secureOrg: TestOrganisation;
  let browser: TestBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    browser = testBrowser();
    await signInAndConsent(browser, org);
    secure = await startTestService({
      databaseUrl: await fresh(),
      passwords: quickPasswords,
      baseUrl: "https://id.example.com",
    });
    const made = await makeOrganisation(secure.service);
    secureOrg = { ...made, issuer: `${secure.baseUrl}/oauth/${made.organisation.id}` };
  });
  after(async () => {
    await running.close();
    await secure.close();
  });

  /** Every kind of page, by what it is. */
  async function pages(): Promise<Record<string, TestPage>> {
    const stranger = testBrowser();
    const login = await visit(stranger, org);
    return {
      login,
      "login failed": await logIn(stranger, org, login, { password: "wrong" }),
      "login refused": await logIn(testBrowser(), org, login),
      consent: await visit(browser, org, { more: { prompt: "consent" } }),
      account: await visit(browser, org, { more: { prompt: "select_account" } }),
      "form post": await visit(browser, org, { more: { response_mode: "form_post" } }),
      "sign out": await browser.get(`${org.issuer}/end_session`),
      "signed out": await testBrowser().get(`${org.issuer}/end_session`),
      error: await visit(browser, org, { more: { redirect_uri: "https://evil.example/" } }),
      "not found": await browser.get(
        `${running.baseUrl}/oauth/01a1fd3c-484e-78bb-9893-e02106c1d59d/authorize`,
      ),
      "wrong type": await browser.post(`${org.issuer}/login`, {}, { "content-type": "text/plain" }),
      landing: await browser.get(`${running.baseUrl}/`),
    };
  }
  /** The policy, with its nonce left out and checked against the page's style element. */
  function policyOf({ headers, body }: TestPage): string {
    const policy = headers.get("content-security-policy") ?? "";
    const [, nonce = ""] = /'nonce-([A-Za-z0-9+/]{24})'/.exec(policy) ?? [];
    for (const [, used] of body.matchAll(/<style nonce="([^"]*)"/g)) assert.equal(used, nonce);
    return policy.replace(nonce, "NONCE");
  }
  const policyWith = (formAction: string) =>
    `default-src 'none'; style-src 'self' 'nonce-NONCE'; script-src 'self'; img-src 'self' data:; connect-src 'self'; ${formAction}frame-ancestors 'none'; base-uri 'none'`;

  /** Steps of an application's request: they end there, and may be in a window that it has opened. */
  const goingBack = ["login", "login failed", "login refused", "consent", "account", "form post"];

  test("pages can't be framed or cached, and send no referrer", async () => {
    for (const [what, { headers }] of Object.entries(await pages())) {
      assert.equal(headers.get("x-frame-options"), "DENY", what);
      assert.equal(headers.get("cache-control"), "no-store", what);
      assert.equal(headers.get("referrer-policy"), "no-referrer", what);
      assert.equal(headers.get("x-content-type-options"), "nosniff", what);
      const opener = goingBack.includes(what) ? "unsafe-none" : "same-origin";
      assert.equal(headers.get("cross-origin-opener-policy"), opener, what);
      assert.equal(headers.get("content-type"), "text/html; charset=utf-8", what);
      assert.equal(headers.get("access-control-allow-origin"), null, what);
      assert.equal(headers.get("strict-transport-security"), null, `${what}: http on loopback`);
      assert.equal(headers.get("server") ?? headers.get("x-powered-by"), null, what);
    }
  });

  test("the content security policy allows our assets, and forms that end at an application", async () => {
    for (const [what, page] of Object.entries(await pages())) {
      const expected = goingBack.includes(what) ? "" : "form-action 'self'; ";
      assert.equal(policyOf(page), policyWith(expected), what);
    }
  });

  test("pages contain no inline script or style and load nothing from other hosts", async () => {
    for (const [what, { body }] of Object.entries(await pages())) {
      assert.doesNotMatch(
        body,
        /<script(?! src="\/assets\/)|<style(?! nonce="[A-Za-z0-9+/]{24}")|\s(?:on\w+|style)=/,
        what,
      );
      for (const [, address = ""] of body.matchAll(/<(?:link|img|script)[^>]*\s(?:href|src)="([^"]*)"/g))
        assert.match(address, /^(?:\/assets\/|data:image\/)/, what);
    }
  });

  test("every response has its own nonce", async () => {
    const nonce = async () =>
      /'nonce-([^']+)'/.exec(
        (await visit(browser, org, { more: { prompt: "consent" } })).headers.get("content-security-policy") ??
          "",
      )?.[1];
    assert.equal(new Set(await Promise.all(Array.from({ length: 20 }, nonce))).size, 20);
  });

  test("sends HSTS on https with every response except published documents", async () => {
    const policy = "max-age=63072000; includeSubDomains";
    const visitor = testBrowser();
    const login = await visit(visitor, secureOrg);
    const seen = [
      login,
      await visitor.post(`${secureOrg.issuer}/login`, { ...login.hidden, ...secureOrg.user }),
      await visitor.get(`${secureOrg.issuer}/userinfo`),
      await visitor.get(`${secure.baseUrl}/nothing`),
      await visitor.get(`${secure.baseUrl}/nothing%00`),
      await visitor.get(`${secureOrg.issuer}/login`),
      await visitor.get(`${secure.baseUrl}/healthz`),
      await visitor.get(`${secure.baseUrl}/`),
    ];
    for (const { url, headers } of seen) assert.equal(headers.get("strict-transport-security"), policy, url);
  });

  test("Host and X-Forwarded-* headers change no link, redirect or cookie", async () => {
    const lies = {
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "http",
      "x-forwarded-port": "1",
      "x-forwarded-prefix": "/evil",
      forwarded: "host=evil.example;proto=http",
      "x-original-url": "/evil",
      "x-rewrite-url": "/evil",
    };
    const visitor = testBrowser();
    const query = new URL((await visit(visitor, secureOrg)).url).search;
    const login = await visitor.get(`${secureOrg.issuer}/authorize${query}`, lies);
    const sent = await visitor.post(
      `${secureOrg.issuer}/login`,
      { ...login.hidden, ...secureOrg.user },
      lies,
    );
    assert.match(sent.headers.get("location") ?? "", /^\/oauth\/[0-9a-f-]{36}\/authorize\?flow=/);
    assert.match(sent.headers.getSetCookie()[0] ?? "", /^__Host-.*; Secure/);
    const next = await visitor.get(sent.location ?? "", lies);
    const consent = await visitor.get(next.location ?? "", lies);
    assert.ok(showsConsent(consent));
    const answer = await visitor.post(
      `${secureOrg.issuer}/authorize`,
      { ...consent.hidden, decision: "allow" },
      lies,
    );
    assert.equal(
      new URL(answer.location ?? "").searchParams.get("iss"),
      `https://id.example.com/oauth/${secureOrg.organisation.id}`,
    );
    for (const path of [
      `/oauth/${secureOrg.organisation.id}/.well-known/openid-configuration`,
      "/",
      `/oauth/${secureOrg.organisation.id}/authorize`,
    ]) {
      const answered = await secure.app.inject({ url: path, headers: { ...lies, host: "evil.example" } });
      assert.doesNotMatch(answered.body + JSON.stringify(answered.headers), /evil/, path);
    }
    for (const { body } of [login, consent]) assert.doesNotMatch(body, /evil/);
  });

  test("an organisation's colour is in the one style element that the nonce allows", async () => {
    const { query } = running.service.database;
    const branding = { accentColor: "#b00020", logoUri: "https://evil.example/logo.png" };
    const coloured = await makeOrganisation(running.service, "Coloured");
    const settings = JSON.stringify({ ...coloured.organisation.settings, branding });
    await query
      .updateTable("organisation")
      .set({ settings })
      .where("id", "=", coloured.organisation.id)
      .execute();
    await running.service.changes.publish(query, { orgId: coloured.organisation.id, topic: "organisation" });
    const page = await visit(testBrowser(), coloured);
    assert.match(page.body, /<style nonce="[A-Za-z0-9+/]{24}">/);
    assert.equal(policyOf(page), policyWith(""));
    assert.doesNotMatch(page.body, /evil/);
  });
});
