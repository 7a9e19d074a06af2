import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../core/audit/audit.store.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { testBrowser } from "../testing/fakes/browser.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import { credentials, postForm, postJson, refresh } from "../testing/fixtures/client.ts";
import { enrol } from "../testing/fixtures/enrolments.ts";
import { callApi, makeSystemAccount } from "../testing/fixtures/system-account.ts";
import { logIn, sessionCookie, tokensOf, visit } from "../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  test("a line contains the route, and no secret, code, key, token, email address or query", async () => {
    const browser = testBrowser();
    await logIn(browser, org, await visit(browser, org), { password: "a wrong one" });
    const { accessToken, refreshToken, idToken } = await tokensOf(browser, org, {
      state: "a-state",
      nonce: "a-nonce",
    });
    await refresh(org, refreshToken);
    await postForm(`${org.issuer}/introspect`, { token: accessToken, ...credentials(org.web) });
    await postForm(`${org.issuer}/token?client_secret=${org.web.secret}`, { code: "sgn_ac_guess" });
    await browser.get(`${org.issuer}/userinfo?access_token=${accessToken}`);
    await browser.get(`${org.issuer}/end_session?id_token_hint=${idToken}`);
    await browser.get(`${running.baseUrl}/not/here/${refreshToken}`);
    const text = JSON.stringify(await running.linesSoFar());
    const secrets = [
      accessToken,
      refreshToken,
      idToken,
      org.web.secret,
      org.user.password,
      org.user.email,
      "a wrong one",
      "a-state",
      "a-nonce",
      "sgn_",
      "eyJ",
      sessionCookie(browser, org)?.[1] ?? "sgn_bs_",
    ];
    for (const secret of secrets) assert.ok(!text.includes(secret), secret);
    const routes = new Set(
      (await running.linesSoFar()).map(({ method, route, status }) => `${method} ${route} ${status}`),
    );
    for (const line of [
      "GET /oauth/:org/authorize 200",
      "POST /oauth/:org/login 401",
      "POST /oauth/:org/login 303",
      "POST /oauth/:org/token 200",
      "POST /oauth/:org/token 400",
      "GET (none) 404",
    ])
      assert.ok(routes.has(line), `${line} among ${[...routes]}`);
  });

  test("an enrolment code is in no log line and no audit event", async () => {
    const { id: orgId } = org.organisation;
    const account = await makeSystemAccount(running.service, org, { administrator: true });
    const made = await callApi(`${running.baseUrl}/devices/manage/${orgId}/register`, account, {
      ...{ body: {}, strictAt: running.service.clock() },
    });
    const code = String(made.body["code"]);
    const guess = `${code.slice(0, -5)}00000`;
    for (const one of [guess, code, code, `${code}!`]) await enrol(org.issuer, one);
    await postJson(`${org.issuer}/devices/enroll`, { code, csr: "x", [code]: code });
    await postJson(`${org.issuer}/devices/enroll/begin`, { code, ek_certificate: code, ak_public: code });
    await fetch(`${org.issuer}/devices/enroll?code=${code}`);
    const events = await listAuditEvents(running.service.database.query, orgId, 100);
    assert.ok(events.some(({ action }) => action === "device.enrolled"));
    assert.ok(running.refused.some(({ error }) => error === "invalid_code"));
    const text = JSON.stringify([await running.linesSoFar(), running.refused, running.errors, events]);
    // Five digits are somewhere in any log: one code of sixty has such a part.
    const parts = code.split("-").filter((part) => /[A-Z]/.test(part));
    assert.ok(parts.length > 0);
    for (const part of parts) assert.ok(!text.includes(part), part);
    assert.deepEqual(running.errors, []);
  });

  test("a line has the request id of the error page", async () => {
    const page = await testBrowser().get(`${org.issuer}/authorize`);
    const [, id] = /<code>([^<]+)<\/code>/.exec(page.body) ?? [];
    assert.equal((await running.linesSoFar()).at(-1)?.requestId, id);
  });
});
