import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createApplication, disableApplication } from "../../core/applications/applications.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../testing/fakes/browser.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { decide, follow, logIn, showsConsent, showsLogin, withUser } from "../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clientId: string;
  before(async () => {
    running = await startTestService({
      databaseUrl: await fresh(),
      passwords: quickPasswords,
      demo: async (service) => {
        org = await makeOrganisation(service, "Demo");
        const { id } = org.organisation;
        const spa = await createApplication(service, {
          orgId: id,
          name: "Demo app",
          clientType: "spa",
          settings: { redirectUris: [`${service.config.baseUrl}/demo/callback`] },
          actor: "test",
        });
        clientId = spa.id;
        return { organisationIds: [id], orgId: id, clientId, credentialsFile: "data/demo.json" };
      },
    });
  });
  after(() => running.close());

  const begin = async (browser: TestBrowser) =>
    follow(browser, await browser.get(`${running.baseUrl}/demo/try`));
  const callback = (browser: TestBrowser, parameters: Record<string, string>) =>
    browser.get(`${running.baseUrl}/demo/callback?${new URLSearchParams(parameters)}`);
  /** As far as the address with the code in it, which the browser has not opened yet. */
  async function answered(browser: TestBrowser): Promise<URLSearchParams> {
    const login = await begin(browser);
    const { email, password } = org.user;
    let page = await browser.post(`${org.issuer}/login`, { ...login.hidden, email, password });
    for (let step = 0; step < 5 && !page.location?.includes("/demo/callback"); step++) {
      page = page.location
        ? await browser.get(page.location)
        : await browser.post(`${org.issuer}/authorize`, { ...page.hidden, decision: "allow" });
    }
    return new URL(page.location ?? "").searchParams;
  }
  function assertRefused(page: TestPage, text: RegExp) {
    assert.equal(page.status, 400);
    assert.match(page.body, text);
    assert.doesNotMatch(page.body, /eyJ/);
  }

  test("from the start page through sign-in and consent to the decoded tokens, and again without questions", async () => {
    const browser = testBrowser();
    const login = await begin(browser);
    assert.ok(showsLogin(login));
    const consent = await logIn(browser, org, login);
    assert.ok(showsConsent(consent));
    const tokens = await decide(browser, org, consent);
    assert.equal(tokens.status, 200);
    assert.equal(tokens.body.match(/Signature verified \(ES256\)/g)?.length, 2);
    for (const shown of ["Demo app", org.user.id, org.issuer, "openid profile email offline_access"])
      assert.ok(tokens.body.includes(shown), shown);
    assert.doesNotMatch(tokens.body, /sgn_rt_/, "the refresh token stays where it is");
    assert.equal(tokens.headers.get("cache-control"), "no-store");
    assert.ok(!browser.cookies.has("signet-demo-try"), "what the flow needed is gone");
    assert.match((await begin(browser)).body, /Signature verified/);
    const [, signOut = ""] = /href="([^"]*end_session)"/.exec(tokens.body) ?? [];
    assert.match((await browser.get(signOut)).body, /Sign out of Demo\?/);
  });

  test("every try has a state, nonce and challenge of its own, bound to the browser", async () => {
    const asked = await Promise.all(
      [1, 2].map(
        async () =>
          new URL((await testBrowser().get(`${running.baseUrl}/demo/try`)).location ?? "").searchParams,
      ),
    );
    for (const name of ["state", "nonce", "code_challenge"])
      assert.equal(new Set(asked.map((one) => one.get(name))).size, 2, name);
    const { headers } = await testBrowser().get(`${running.baseUrl}/demo/try`);
    assert.match(
      headers.getSetCookie()[0] ?? "",
      /^signet-demo-try=[^;]+;.*Path=\/demo;.*HttpOnly;.*SameSite=Lax/,
    );
    assert.equal(headers.get("cache-control"), "no-store");
  });

  test("an answer that was not asked for here is refused: another browser's, another issuer's, altered, repeated", async () => {
    const browser = testBrowser();
    const answer = Object.fromEntries(await answered(browser));
    const cookies = new Map(browser.cookies);
    assertRefused(await callback(testBrowser(), answer), /does not belong/);
    assertRefused(await callback(browser, { ...answer, state: `${answer["state"]}x` }), /does not belong/);
    assertRefused(await callback(browser, { ...answer, state: "" }), /does not belong/);
    assertRefused(await callback(browser, { ...answer, iss: "https://evil.example" }), /does not belong/);
    const { iss: _, ...withoutIssuer } = answer;
    assertRefused(await callback(browser, withoutIssuer), /does not belong/);
    const planted = testBrowser();
    planted.cookies.set("signet-demo-try", ".");
    assertRefused(await callback(planted, { ...answer, state: "" }), /does not belong/);
    assert.equal((await callback(browser, answer)).status, 200);
    assertRefused(await callback(browser, answer), /does not belong/);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    assertRefused(await callback(browser, answer), /cannot be used/);
  });

  test("a no is told, and so is a code that is none", async () => {
    const browser = testBrowser();
    const otto = await withUser(running.service, org, "otto@demo.example");
    const consent = await logIn(browser, otto, await begin(browser));
    assertRefused(await decide(browser, org, consent, "deny"), /did not consent/);
    const other = testBrowser();
    const answer = Object.fromEntries(await answered(other));
    assertRefused(await callback(other, { ...answer, code: "sgn_ac_nonsense" }), /cannot be used/);
  });

  test("with the demo's application disabled it says so and does not fail", async () => {
    const key = { orgId: org.organisation.id, id: clientId, actor: "test" };
    await disableApplication(running.service, { ...key, disabled: true });
    const page = await begin(testBrowser());
    assert.equal(page.status, 400);
    await disableApplication(running.service, { ...key, disabled: false });
    assert.deepEqual(running.errors, []);
  });
});
