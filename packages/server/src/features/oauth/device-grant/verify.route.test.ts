import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Application, deviceCodeGrantType } from "../../../core/applications/application.ts";
import { findConsents } from "../../../core/consents/consents.store.ts";
import { grantOrganisationConsent, revokeConsent } from "../../../core/consents/consents.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { postForm } from "../../../testing/fixtures/client.ts";
import {
  answerQuestion,
  askForCodes,
  decideDeviceCode,
  makeDeviceApp,
  openVerify,
  poll,
  showsCodeForm,
  showsDone,
  showsQuestion,
  typeCode,
  type WaitingCodes,
} from "../../../testing/fixtures/device.ts";
import {
  giveAuthenticator,
  showFactor,
  showsEnrolment,
  showsTwoFactor,
} from "../../../testing/fixtures/factors.ts";
import { follow, logIn, sessionCookie, showsLogin, withUser } from "../../../testing/fixtures/visit.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import { assertAudited } from "../../../testing/probes/written-actions.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let tv: Application;
  let browser: TestBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      databaseUrl: await fresh(),
      clock,
      passwords: quickPasswords,
      env: { TRUSTED_PROXIES: "127.0.0.1", SIGNET_RATE_LIMITS: "device-address=1000/60" },
    });
    org = await makeOrganisation(running.service);
    tv = await makeDeviceApp(running.service, org);
    browser = testBrowser();
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const outcome = async (codes: WaitingCodes) => {
    const { status, body } = await poll(org, codes);
    return status === 200 ? "allowed" : body["error"];
  };
  const consents = (application: Application, userId = org.user.id) =>
    findConsents(running.service.database.query, {
      orgId: org.organisation.id,
      applicationId: application.id,
      userId,
    });

  test("asks for a sign-in first, then fills the code field from the URL", async () => {
    const codes = await askForCodes(org, tv);
    const person = testBrowser();
    const first = await follow(person, await person.get(String(codes.body["verification_uri_complete"])));
    assert.ok(showsLogin(first));
    assert.match(first.body, /to your device at Acme/);
    const page = await logIn(person, org, first);
    assert.ok(showsCodeForm(page));
    assert.match(page.body, new RegExp(`id="user_code" name="user_code" value="${codes.userCode}"`));
    assert.match(page.body, /Compare this code with the one on your device/);
    assert.equal(page.headers.get("cache-control"), "no-store");
    assert.equal(await outcome(codes), "authorization_pending", "an address alone opens nothing");
  });

  test("starts a sign-in with another account without confirming anything or filling in an address", async () => {
    const person = testBrowser();
    await openVerify(person, org);
    clock.advance(1_000);
    const page = await openVerify(person, org);
    const [, uri = ""] = page.body.match(/href="([^"]+)">Not you\? Use another account/) ?? [];
    const other = await follow(
      person,
      await person.get(new URL(uri.replaceAll("&amp;", "&"), page.url).href),
    );
    assert.ok(showsLogin(other));
    assert.doesNotMatch(other.body, /Confirm it’s you/);
    assert.doesNotMatch(other.body, new RegExp(`value="${org.user.email}"`));
  });

  for (const [about, spell] of [
    ["as shown", (code: string) => code],
    ["small and without the dash", (code: string) => code.replace("-", "").toLowerCase()],
    ["with spaces", (code: string) => ` ${code.replace("-", " ")} `],
  ] as const) {
    test(`accepts a code typed ${about}, and issues tokens after the approval`, async () => {
      const codes = await askForCodes(org, tv);
      const question = await typeCode(browser, org, await openVerify(browser, org), spell(codes.userCode));
      assert.ok(showsQuestion(question));
      assert.equal(await outcome(codes), "authorization_pending", "the code alone allows nothing");
      const done = await answerQuestion(browser, org, question);
      assert.ok(showsDone(done) && done.body.includes("Your device is connected"));
      assert.equal(await outcome(codes), "allowed");
    });
  }

  test("shows the application, its scopes, the origin, the time, the account and a warning", async () => {
    const headers = { "user-agent": "SmartTV/7.1 (x)", "x-forwarded-for": "203.0.113.9" };
    const codes = await askForCodes(org, tv, { scope: "openid email offline_access" }, headers);
    clock.advance(3 * 60_000);
    const { body } = await typeCode(browser, org, await openVerify(browser, org), codes.userCode);
    for (const shown of [
      /<h1>Allow Television on a device to access your account\?<\/h1>/,
      new RegExp(`<dd class="user-code">${codes.userCode}</dd>`),
      /<bdi>SmartTV\/7\.1<\/bdi>/,
      /<bdi>203\.0\.113\.9<\/bdi>/,
      /<dd>3 minutes ago<\/dd>/,
      /<bdi>user@acme\.example<\/bdi>/,
      /See your email address/,
      /Access your data while you’re not using the application/,
      /Allow only what you started yourself\. If someone sent you the code or the link, select Deny/,
      // In another language the page begins again, with the code.
      new RegExp(`/language/da\\?to=[^"]*%2Fdevice%2Fverify%3Fuser_code%3D${codes.userCode}"`),
    ])
      assert.match(body, shown);
  });

  test("responds with access_denied after a denial, and stores no consent", async () => {
    const app = await makeDeviceApp(running.service, org);
    const codes = await askForCodes(org, app);
    const done = await decideDeviceCode(browser, org, codes, "deny");
    assert.match(done.body, /Access denied/);
    assert.equal(await outcome(codes), "access_denied");
    assert.deepEqual(await consents(app), []);
  });

  test("stores an approval as consent, and still asks for each device", async () => {
    const app = await makeDeviceApp(running.service, org);
    await decideDeviceCode(browser, org, await askForCodes(org, app, { scope: "openid email" }));
    const [consent, ...more] = await consents(app);
    assert.deepEqual([consent?.kind, consent?.scopes, more], ["user", ["openid", "email"], []]);
    await decideDeviceCode(browser, org, await askForCodes(org, app, { scope: "openid" }));
    assert.deepEqual(
      (await consents(app)).map(({ id }) => id),
      [consent?.id],
    );
    const free = await makeDeviceApp(running.service, org, { requireConsent: false });
    await decideDeviceCode(browser, org, await askForCodes(org, free));
    assert.deepEqual(await consents(free), []);
  });

  test("does not ask a user where only an administrator can consent", async () => {
    const app = await makeDeviceApp(running.service, org, { consentMode: "organisation" });
    const codes = await askForCodes(org, app, { scope: "openid email" });
    const page = await openVerify(browser, org);
    const refused = await typeCode(browser, org, page, codes.userCode);
    assert.equal(refused.status, 403);
    assert.match(refused.body, /Ask an administrator of Acme to allow/);
    assert.doesNotMatch(refused.body, /id="device-allow"/);
    const forced = { ...page.hidden, user_code: codes.userCode, decision: "allow" };
    assert.equal((await browser.post(`${org.issuer}/device/verify`, forced)).status, 403);
    assert.equal(await outcome(codes), "authorization_pending");
    const grant = { application: app, scopes: ["openid", "email"], actor: "test" };
    const consentId = await grantOrganisationConsent(running.service, grant);
    assert.ok(showsDone(await decideDeviceCode(browser, org, codes)));
    clock.advance(6_000);
    const { body } = await poll(org, codes);
    const taking = { orgId: org.organisation.id, id: consentId, actor: "test" };
    assert.equal(await revokeConsent(running.service, taking), true);
    const token = {
      grant_type: "refresh_token",
      refresh_token: String(body["refresh_token"]),
      client_id: app.id,
    };
    assertOAuthError(await postForm(`${org.issuer}/token`, token), 400, "invalid_grant");
  });

  test("lets the user deny a request that only an administrator can consent to", async () => {
    const app = await makeDeviceApp(running.service, org, { consentMode: "organisation" });
    const codes = await askForCodes(org, app, { scope: "openid email" });
    const page = await typeCode(browser, org, await openVerify(browser, org), codes.userCode);
    assert.equal(page.status, 403);
    const denied = { ...page.hidden, decision: "deny" };
    assert.ok(showsDone(await browser.post(`${org.issuer}/device/verify`, denied)));
    assert.equal(await outcome(codes), "access_denied");
  });

  test("requires a new sign-in when the user signed out before the decision", async () => {
    const codes = await askForCodes(org, tv);
    const question = await typeCode(browser, org, await openVerify(browser, org), codes.userCode);
    const [name = "", token = ""] = sessionCookie(browser, org) ?? [];
    const elsewhere = testBrowser();
    elsewhere.cookies.set(name, token);
    const signOut = await elsewhere.get(`${org.issuer}/end_session`);
    await elsewhere.post(`${org.issuer}/end_session`, signOut.hidden);
    const shown = await follow(browser, await answerQuestion(browser, org, question));
    assert.ok(showsLogin(shown));
    assert.equal(await outcome(codes), "authorization_pending");
    const again = await logIn(browser, org, shown);
    assert.match(again.body, new RegExp(`value="${codes.userCode}"`), "the code is still there");
  });

  test("asks for a second factor at sign-in and where the application requires one", async () => {
    const own = await withUser(running.service, org, "factor@acme.example");
    const strict = await makeDeviceApp(running.service, org, { requiredAcr: acrValues.multiFactor });
    const person = testBrowser();
    const codes = await askForCodes(org, strict);
    const page = await openVerify(person, own, codes.userCode);
    const alone = await follow(person, await typeCode(person, own, page, codes.userCode));
    assert.ok(showsEnrolment(alone), "who has none adds one first");
    const app = await giveAuthenticator(running.service, own);
    const asked = await follow(person, await typeCode(person, own, page, codes.userCode));
    assert.ok(showsTwoFactor(asked), "no yes with the password alone");
    const back = await showFactor(person, own, asked, { code: app.code(clock()) });
    assert.ok(showsCodeForm(back));
    const question = await typeCode(person, own, back, codes.userCode);
    assert.ok(showsQuestion(question));
    assert.ok(showsDone(await answerQuestion(person, own, question)));
    const { body } = await poll(org, codes);
    assert.equal(payloadOf(body["id_token"])["acr"], acrValues.multiFactor);
    assert.ok(showsTwoFactor(await openVerify(testBrowser(), own)), "and at every sign-in from now on");
  });

  test("rejects the code of an application that has lost the device grant", async () => {
    assert.ok(tv.settings.grantTypes.includes(deviceCodeGrantType));
    const codes = await askForCodes(org, tv);
    await running.service.database.query
      .updateTable("application")
      .set({ settings: JSON.stringify({ ...tv.settings, grantTypes: ["authorization_code"] }) })
      .where("id", "=", tv.id)
      .execute();
    await running.service.database.transaction((tx) =>
      running.service.changes.publish(tx, { orgId: org.organisation.id, topic: "application" }),
    );
    const wrong = await typeCode(browser, org, await openVerify(browser, org), codes.userCode);
    assert.match(wrong.body, /That code is wrong or has expired/);
  });

  test("audits every step", () =>
    assertAudited(running.service.database.query, "device.approved", "device.denied"));
});
