// What one parser takes for the registered address and another for an attacker's (quality.md, "Attacks").
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createApplication } from "../../../../core/applications/applications.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { authorizationRequest, type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { postForm } from "../../../../testing/fixtures/client.ts";
import { answerOf, requestQuery, signInAndConsent } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const differentials: Readonly<Record<string, readonly string[]>> = {
  [REDIRECT_URI]: [
    // userinfo
    "https://app.example@evil.example/callback",
    "https://evil.example@app.example/callback",
    "https://app.example:443@evil.example/callback",
    "https://app.example%40evil.example/callback",
    // backslash and other separators
    "https://evil.example\\@app.example/callback",
    "https://app.example\\.evil.example/callback",
    "https:\\\\app.example\\callback",
    "https://app.example/\\evil.example/callback",
    "https:/app.example/callback",
    "https:app.example/callback",
    "https:///app.example/callback",
    "//app.example/callback",
    // dot segments and path parameters
    "https://app.example/callback/../evil",
    "https://app.example/callback/..;/evil",
    "https://app.example/x/../callback",
    "https://app.example/./callback",
    "https://app.example/x/..;/callback",
    "https://app.example/callback/%2e%2e/evil",
    "https://app.example/callback;x=1",
    // host
    "https://app.example.evil.example/callback",
    "https://evil-app.example/callback",
    "https://app.example./callback",
    "https://www.app.example/callback",
    "https://app.example%00.evil.example/callback",
    "https://app.example%2eevil.example/callback",
    "https://app。example/callback",
    "https://ａpp.example/callback",
    "https://app.example\u00ad/callback",
    // scheme and case
    "http://app.example/callback",
    "HTTPS://app.example/callback",
    "https://APP.example/callback",
    "https://app.example/Callback",
    "javascript://app.example/callback",
    "data:text/html,https://app.example/callback",
    // port
    "https://app.example:443/callback",
    "https://app.example:8443/callback",
    "https://app.example:/callback",
    // what is added or left out
    "https://app.example/callback#x",
    "https://app.example/callback#",
    "https://app.example/callback?x=1",
    "https://app.example/callback?",
    "https://app.example/callback/",
    "https://app.example/callback/more",
    "https://app.example/callbac",
    "https://app.example/",
    " https://app.example/callback",
    "https://app.example/callback ",
    "https://app.example/callback\n",
    "https://app.example/call\tback",
    // percent-encoding
    "https://app.example/%63allback",
    "https://app.example%2Fcallback",
    "https%3A%2F%2Fapp.example%2Fcallback",
    "https://app.example/callback%20",
    "https://app.example/callback%23x",
    // two at once
    "https://app.example/callback,https://evil.example/",
    "https://app.example/callback https://evil.example/",
  ],
  "https://app.example/tenant?id=1": [
    "https://app.example/tenant",
    "https://app.example/tenant?id=2",
    "https://app.example/tenant?id=1&id=2",
    "https://app.example/tenant?id=1&",
    "https://app.example/tenant?id=%31",
  ],
  "http://127.0.0.1/callback": [
    "http://127.0.0.1:0/callback",
    "http://127.0.0.1:65536/callback",
    "http://127.0.0.1:99999999999/callback",
    "http://127.0.0.1:08080/callback",
    "http://127.0.0.1:/callback",
    "http://127.0.0.1:8080@evil.example/callback",
    "http://127.0.0.1:8080.evil.example/callback",
    "http://127.0.0.1.evil.example:8080/callback",
    "http://127.0.0.1:8080/callback/",
    "http://127.0.0.1:8080/callback?x",
    "http://127.0.0.1:8080/callback#x",
    "http://127.0.0.1:8080/other",
    "http://127.0.0.1:8080\\callback",
    "https://127.0.0.1:8080/callback",
    "http://127.0.0.2:8080/callback",
    "http://localhost:8080/callback",
    "http://[::1]:8080/callback",
    "http://127.1:8080/callback",
    "http://2130706433:8080/callback",
    "http://0x7f.0.0.1:8080/callback",
    "http://0.0.0.0:8080/callback",
  ],
  "com.example.app:/callback": [
    "com.example.app:/callback/",
    "com.example.app:/callback?x",
    "com.example.app:callback",
    "com.example.app://callback",
    "com.example.app:///callback",
    "COM.EXAMPLE.APP:/callback",
    "com.example.app:/other",
    "com.example:/callback",
  ],
};

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let browser: TestBrowser;
  let clientId: string;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    const made = await createApplication(running.service, {
      orgId: org.organisation.id,
      name: "App",
      clientType: "native",
      settings: { redirectUris: Object.keys(differentials) },
      actor: "test",
    });
    clientId = made.id;
    browser = testBrowser();
    await signInAndConsent(browser, org, { clientId });
  });
  after(() => running.close());

  const ask = (redirectUri: string, more: Record<string, string> = {}) =>
    browser.get(`${org.issuer}/authorize?${requestQuery(org, { clientId, redirectUri, more })}`);

  for (const [registered, addresses] of Object.entries(differentials)) {
    test(`${registered} matches, and nothing that looks like it does`, async () => {
      assert.ok((await ask(registered)).location?.startsWith(registered), "the registered one works");
      for (const address of addresses) {
        for (const more of [
          {},
          { prompt: "none" },
          { response_mode: "form_post" },
          { response_type: "token" },
        ]) {
          const page = await ask(address, more);
          assert.equal(page.status, 400, address);
          assert.equal(page.location, undefined, address);
          assert.doesNotMatch(page.body, /evil|code=|<form/, address);
        }
      }
    });
  }

  test("loopback redirect URIs match with any port (RFC 8252 §7.3)", async () => {
    for (const port of [80, 1, 1024, 8080, 65_535]) {
      const redirectUri = `http://127.0.0.1:${port}/callback`;
      const { href } = new URL(redirectUri);
      assert.ok((await ask(redirectUri)).location?.startsWith(`${href}?code=`), redirectUri);
    }
  });

  test("the code is bound to its redirect URI, port included", async () => {
    const redirectUri = "http://127.0.0.1:50001/callback";
    for (const [given, status] of [
      ["http://127.0.0.1:50002/callback", 400],
      [redirectUri, 200],
    ] as const) {
      const { query, verifier } = authorizationRequest(clientId, redirectUri);
      const code = answerOf(await browser.get(`${org.issuer}/authorize?${query}`)).get("code") ?? "";
      const form = { grant_type: "authorization_code", client_id: clientId, code, code_verifier: verifier };
      assert.equal(
        (await postForm(`${org.issuer}/token`, { ...form, redirect_uri: given })).status,
        status,
        given,
      );
    }
  });
});
