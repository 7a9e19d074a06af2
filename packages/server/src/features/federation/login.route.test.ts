import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import type { Application } from "../../core/applications/application.ts";
import { setApplicationStatus } from "../../core/applications/applications.ts";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { changeOrganisationSettings, setOrganisationStatus } from "../../core/organisations/organisations.ts";
import { validateSessionKey } from "../../core/session-keys/session-keys.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import {
  giveAuthenticator,
  showFactor,
  showsEnrolment,
  showsTwoFactor,
} from "../../testing/fixtures/factors.ts";
import {
  federate,
  keyOf,
  loginAddress,
  makeFederatedApp,
  RETURN_URL,
} from "../../testing/fixtures/federation.ts";
import { callApi } from "../../testing/fixtures/system-account.ts";
import {
  logIn,
  sessionCookie,
  showsAccountChoice,
  showsConsent,
  showsLogin,
  signInAndConsent,
  tokensOf,
  visit,
  withUser,
} from "../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let application: Application;
  let browser: TestBrowser;
  let made = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
  });
  beforeEach(async () => {
    org = await makeOrganisation(running.service, `Org${made++}`);
    application = await makeFederatedApp(running.service, org);
    browser = testBrowser();
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const validate = (key: string | null) =>
    callApi(`${running.baseUrl}/legacy/api/auth/validate?key=${key}`, undefined);

  test("a sign-in returns with a session key of the user", async () => {
    const page = await federate(browser, running, application);
    assert.ok(showsLogin(page));
    assert.match(page.body, /Continue to Web/);
    assert.match(page.body, /href="https:\/\/portal\.example\/"/, "the application's home");
    const back = await logIn(browser, org, page);
    assert.match(back.location ?? "", /^https:\/\/portal\.example\/app\?service_key=sgn_sk_[\w-]{43}$/);
    assert.equal(back.headers.get("cache-control"), "no-store");
    assert.equal(back.headers.get("referrer-policy"), "no-referrer");
    const answer = await validate(keyOf(back));
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.deepEqual(answer.body, {
      Valid: true,
      Kind: "Service",
      ApplicationId: application.id,
      ExpiresAt: new Date(clock() + 12 * 3_600_000).toISOString(),
      User: {
        Email: org.user.email,
        Firstname: "Uma",
        Surname: "User",
        PermId: org.user.id,
        OrganisationId: org.organisation.id,
        Role: "Standard",
        Phone: "+4512345678",
      },
    });
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.equal(event?.action, "session-key.issued");
  });

  test("federation and OAuth share one session", async () => {
    await signInAndConsent(browser, org);
    const there = await federate(browser, running, application);
    const found = await validateSessionKey(running.service, keyOf(there) ?? "");
    if (typeof found === "string") throw new Error(found);
    const { claims, asked } = await tokensOf(browser, org);
    assert.ok(!asked, "no second sign-in");
    assert.equal(found.key.sessionId, claims.sid);
    assert.equal(Math.floor(found.key.authTime / 1000), claims.auth_time);
    const other = testBrowser();
    keyOf(await logIn(other, org, await federate(other, running, application)));
    assert.ok(showsConsent(await visit(other, org, { more: { prompt: "consent" } })), "signed in there too");
  });

  test("a session at one organisation doesn't count at another", async () => {
    await signInAndConsent(browser, org);
    const other = await makeOrganisation(running.service, `Other${made}`);
    const foreign = await makeFederatedApp(running.service, other);
    const [, value = ""] = sessionCookie(browser, org) ?? [];
    browser.cookies.set(`signet-${other.organisation.id}`, value);
    const page = await federate(browser, running, foreign);
    assert.ok(showsLogin(page));
    const refused = await logIn(browser, other, page, { email: org.user.email });
    assert.equal(refused.status, 401);
  });

  test("prompt=login asks for the password once, despite a session", async () => {
    await signInAndConsent(browser, org);
    clock.advance(60_000);
    const page = await federate(browser, running, application, { prompt: "login" });
    assert.ok(showsLogin(page));
    const found = await validateSessionKey(running.service, keyOf(await logIn(browser, org, page)) ?? "");
    assert.ok(typeof found !== "string" && found.key.authTime === clock());
  });

  test("prompt=select_account shows the accounts, and another one can sign in", async () => {
    await signInAndConsent(browser, org);
    clock.advance(60_000);
    const page = await federate(browser, running, application, { prompt: "select_account" });
    assert.ok(showsAccountChoice(page));
    const chosen = await browser.post(`${org.issuer}/authorize`, { ...page.hidden, account: "current" });
    assert.match(chosen.location ?? "", /flow=/);
    const other = await withUser(running.service, org, "second@acme.example");
    const login = await browser.post(`${org.issuer}/authorize`, { ...page.hidden, account: "other" });
    const asked = await browser.get(login.location ?? "");
    assert.ok(showsLogin(asked));
    const answer = await validate(keyOf(await logIn(browser, other, asked)));
    assert.equal((answer.body["User"] as { PermId: string }).PermId, other.user.id);
  });

  test("prompt=none shows no page: it returns a key or an error", async () => {
    const more = { prompt: "none", returnUrl: `${RETURN_URL}?a=1&service_key=old` };
    const nobody = await federate(browser, running, application, more);
    assert.equal(nobody.location, `${RETURN_URL}?a=1&error=login_required`);
    await signInAndConsent(browser, org);
    assert.equal((await validate(keyOf(await federate(browser, running, application, more)))).status, 200);
  });

  test("a due second factor is verified before the key is issued", async () => {
    const app = await giveAuthenticator(running.service, org);
    const page = await logIn(browser, org, await federate(browser, running, application));
    assert.ok(showsTwoFactor(page));
    assert.ok(showsLogin(await federate(browser, running, application)), "half signed in is nobody");
    const found = await validateSessionKey(
      running.service,
      keyOf(await showFactor(browser, org, page, { code: app.code(clock()) })) ?? "",
    );
    assert.ok(typeof found !== "string" && found.key.acr === "urn:signet:acr:mfa");
  });

  test("the application's required acr and the organisation's verified email apply to federation", async () => {
    const strict = await makeFederatedApp(running.service, org, { requiredAcr: "urn:signet:acr:mfa" });
    await signInAndConsent(browser, org);
    assert.ok(showsEnrolment(await federate(browser, running, strict)));
    assert.ok(keyOf(await federate(browser, running, application)));
    const settings = { requireVerifiedEmail: true };
    await changeOrganisationSettings(running.service, {
      orgId: org.organisation.id,
      settings,
      actor: "test",
    });
    await running.service.database.query
      .updateTable("user_account")
      .set({ email_verified_at: null })
      .where("id", "=", org.user.id)
      .execute();
    const page = await federate(browser, running, application);
    assert.match(page.url, /\/verify-email\?flow=/);
  });

  test("an unregistered return URL is rejected with a page and receives nothing", async () => {
    for (const returnUrl of [
      "https://evil.example/",
      "https://portal.example/application",
      "https://portal.example/app/../admin",
      "https://portal.example/app/..;/admin",
      "https://portal.example/app/%2e%2e/admin",
      "https://portal.example@evil.example/app",
      "https://evil.example\\@portal.example/app",
      "http://portal.example/app",
      "//portal.example/app",
      `${RETURN_URL}#`,
    ]) {
      for (const signedIn of [false, true]) {
        if (signedIn) await signInAndConsent(browser, org);
        else browser.cookies.clear();
        for (const prompt of ["login", "none"]) {
          const page = await federate(browser, running, application, { returnUrl, prompt });
          assert.deepEqual([page.status, page.location], [400, undefined], returnUrl);
          assert.match(page.body, /returnUrl\) is not registered/);
          assert.match(page.body, /Go to Web/, "back to what is known of the application");
          assert.doesNotMatch(page.body, /evil\.example/);
          const posted = await browser.post(`${running.baseUrl}/federation/Login`, {
            appId: application.id,
            returnUrl,
          });
          assert.deepEqual([posted.status, posted.location], [400, undefined], returnUrl);
        }
      }
    }
  });

  test("a return URL below the registered one keeps its query without an old key", async () => {
    await signInAndConsent(browser, org);
    const returnUrl = `${RETURN_URL}/deep/page?tab=2&Service_Key=sgn_sk_evil&service%5Fkey=x`;
    const { location = "" } = await federate(browser, running, application, { returnUrl });
    assert.match(
      location,
      /^https:\/\/portal\.example\/app\/deep\/page\?tab=2&service_key=sgn_sk_[\w-]{43}$/,
    );
  });

  test("an unknown or disabled application or organisation is rejected with a page", async () => {
    const ask = () => federate(browser, running, application);
    assert.equal((await federate(browser, running, { id: randomUUID() })).status, 400);
    assert.equal((await federate(browser, running, { id: "x" })).status, 400);
    const key = { orgId: org.organisation.id, actor: "test" };
    const page = await ask();
    await setApplicationStatus(running.service, { ...key, id: application.id, disabled: true });
    assert.equal((await ask()).status, 400);
    assert.equal((await logIn(browser, org, page)).status, 400, "also with a page from before");
    await setApplicationStatus(running.service, { ...key, id: application.id, disabled: false });
    await setOrganisationStatus(running.service, { ...key, disabled: true });
    const refused = await ask();
    assert.deepEqual([refused.status, refused.location], [400, undefined]);
    assert.doesNotMatch(refused.body, /Go to Web/);
  });

  test("missing, repeated or invalid parameters are rejected with a page", async () => {
    const address = `${running.baseUrl}/federation/Login`;
    for (const query of [
      "",
      `?appId=${application.id}`,
      `?returnUrl=${encodeURIComponent(RETURN_URL)}`,
      `?appId=${application.id}&appId=${application.id}&returnUrl=${RETURN_URL}`,
      `?appId=${application.id}&returnUrl=${RETURN_URL}&returnUrl=${RETURN_URL}`,
      `?appId=${application.id}&returnUrl=${RETURN_URL}&prompt=consent`,
      `?appId=${application.id}&returnUrl=%zz`,
    ])
      assert.equal((await browser.get(`${address}${query}`)).status, 400, query);
  });

  test("a POST is repeated by GET with the session cookie", async () => {
    await signInAndConsent(browser, org);
    const form = { appId: application.id, returnUrl: RETURN_URL, prompt: "none" };
    const posted = await testBrowser().post(`${running.baseUrl}/federation/Login`, form);
    assert.deepEqual(
      [posted.status, posted.location],
      [303, loginAddress(running, application, { prompt: "none" })],
    );
    assert.ok(keyOf(await browser.get(posted.location ?? "")));
  });

  test("an OAuth sign-out revokes the session keys of the federation", async () => {
    await signInAndConsent(browser, org);
    const key = keyOf(await federate(browser, running, application));
    assert.equal((await validate(key)).status, 200);
    const page = await browser.get(`${org.issuer}/end_session`);
    await browser.post(`${org.issuer}/end_session`, { ...page.hidden });
    const gone = await validate(key);
    assert.deepEqual([gone.status, gone.body["type"]], [401, "urn:signet:error:not-authenticated"]);
  });
});
