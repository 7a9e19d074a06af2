import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createApplication, setApplicationStatus } from "../../core/applications/applications.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../testing/fakes/browser.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { makeApiClient } from "../../testing/fixtures/api-client.ts";
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
  /** Runs the flow up to the redirect to the callback, without following it. */
  async function authorizationResponse(browser: TestBrowser): Promise<URLSearchParams> {
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
  function assertRejected(page: TestPage, text: RegExp) {
    assert.equal(page.status, 400);
    assert.match(page.body, text);
    assert.doesNotMatch(page.body, /eyJ/);
  }

  test("runs through sign-in and consent to the decoded tokens, and skips both the second time", async () => {
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
    assert.doesNotMatch(tokens.body, /sgn_rt_/, "the refresh token is not shown");
    assert.equal(tokens.headers.get("cache-control"), "no-store");
    assert.ok(!browser.cookies.has("signet-demo-try"), "the flow cookie is deleted");
    assert.match((await begin(browser)).body, /Signature verified/);
    const [, signOut = ""] = /href="([^"]*end_session)"/.exec(tokens.body) ?? [];
    assert.match((await browser.get(signOut)).body, /Sign out of Demo\?/);
  });

  test("an application on the same machine may have a FAPI profile: it has no certificate for https", async () => {
    const api = await makeApiClient(running.service, org, [
      "signet:applications:write",
      "signet:organisation:write",
    ]);
    const application = {
      ...{ name: "Bank", clientType: "confidential", securityProfile: "fapi2", requirePkce: true },
      ...{ tokenEndpointAuthMethod: "private_key_jwt", jwksUri: "https://bank.example/jwks" },
      ...{ dpopBoundAccessTokens: true, grantTypes: ["authorization_code", "refresh_token"] },
      redirectUris: ["http://127.0.0.1:9/callback"],
    };
    const made = await api.call("POST", "/applications", { body: application });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const path = `/applications/${String(made.body["id"])}`;
    const changed = await api.call("PATCH", path, { body: { redirectUris: ["http://[::1]:9/callback"] } });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const elsewhere = await api.call("PATCH", path, {
      body: { redirectUris: ["http://app.example/callback"] },
    });
    assert.equal(elsewhere.status, 422);
  });

  test("every run has a fresh state, nonce and code challenge, bound to the browser by a cookie", async () => {
    const requests = await Promise.all(
      [1, 2].map(
        async () =>
          new URL((await testBrowser().get(`${running.baseUrl}/demo/try`)).location ?? "").searchParams,
      ),
    );
    for (const name of ["state", "nonce", "code_challenge"])
      assert.equal(new Set(requests.map((one) => one.get(name))).size, 2, name);
    const { headers } = await testBrowser().get(`${running.baseUrl}/demo/try`);
    assert.match(
      headers.getSetCookie()[0] ?? "",
      /^signet-demo-try=[^;]+;.*Path=\/demo;.*HttpOnly;.*SameSite=Lax/,
    );
    assert.equal(headers.get("cache-control"), "no-store");
  });

  test("the callback rejects a response from another browser or issuer, and an altered or replayed one", async () => {
    const browser = testBrowser();
    const answer = Object.fromEntries(await authorizationResponse(browser));
    const cookies = new Map(browser.cookies);
    assertRejected(await callback(testBrowser(), answer), /doesn’t match a sign-in/);
    assertRejected(
      await callback(browser, { ...answer, state: `${answer["state"]}x` }),
      /doesn’t match a sign-in/,
    );
    assertRejected(await callback(browser, { ...answer, state: "" }), /doesn’t match a sign-in/);
    assertRejected(
      await callback(browser, { ...answer, iss: "https://evil.example" }),
      /doesn’t match a sign-in/,
    );
    const { iss: _, ...withoutIssuer } = answer;
    assertRejected(await callback(browser, withoutIssuer), /doesn’t match a sign-in/);
    const planted = testBrowser();
    planted.cookies.set("signet-demo-try", ".");
    assertRejected(await callback(planted, { ...answer, state: "" }), /doesn’t match a sign-in/);
    assert.equal((await callback(browser, answer)).status, 200);
    assertRejected(await callback(browser, answer), /doesn’t match a sign-in/);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    assertRejected(await callback(browser, answer), /cannot be used/);
  });

  test("shows why the sign-in failed: denied consent, invalid code", async () => {
    const browser = testBrowser();
    const otto = await withUser(running.service, org, "otto@demo.example");
    const consent = await logIn(browser, otto, await begin(browser));
    assertRejected(await decide(browser, org, consent, "deny"), /did not consent/);
    const other = testBrowser();
    const answer = Object.fromEntries(await authorizationResponse(other));
    assertRejected(await callback(other, { ...answer, code: "sgn_ac_nonsense" }), /cannot be used/);
  });

  test("returns 400 without an internal error when the demo application is disabled", async () => {
    const key = { orgId: org.organisation.id, id: clientId, actor: "test" };
    await setApplicationStatus(running.service, { ...key, disabled: true });
    const page = await begin(testBrowser());
    assert.equal(page.status, 400);
    await setApplicationStatus(running.service, { ...key, disabled: false });
    assert.deepEqual(running.errors, []);
  });
});
