// A version of the terms that a user has not accepted is asked for before anything is issued, whatever the user has signed in with.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Application } from "../../../../core/applications/application.ts";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  askForCodes,
  makeDeviceApp,
  openVerify,
  poll,
  showsCodeForm,
  showsQuestion,
  typeCode,
} from "../../../../testing/fixtures/device.ts";
import { federate, keyOf, makeFederatedApp } from "../../../../testing/fixtures/federation.ts";
import { callApi, makeSystemAccount } from "../../../../testing/fixtures/system-account.ts";
import {
  answerOf,
  follow,
  logIn,
  sessionCookie,
  showsConsent,
  showsLogin,
  visit,
} from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const URL_OF_TERMS = "https://acme.example/terms";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let browser: TestBrowser;
  let made = 0;
  before(async () => {
    clock = fakeClock();
    const options = { clock, passwords: quickPasswords, env: MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), ...options });
  });
  beforeEach(async () => {
    org = await makeOrganisation(running.service, `Org${made++}`);
    browser = testBrowser();
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const setTerms = (version: string) =>
    changeOrganisationSettings(running.service, {
      ...{ orgId: org.organisation.id, actor: "test" },
      settings: { signUp: { mode: "off", groups: [], terms: { version, url: URL_OF_TERMS } } },
    });
  const showsTerms = ({ body }: TestPage) => body.includes('id="terms-submit"');
  const answer = async (page: TestPage, decision: "accept" | "decline", more = {}) =>
    follow(browser, await browser.post(`${org.issuer}/terms`, { ...page.hidden, decision, ...more }));
  const accepted = async () =>
    (await listAuditEvents(running.service.database.query, org.organisation.id, 100)).filter(
      ({ action }) => action === "terms.accepted",
    );

  test("without terms nobody is asked, and whoever has accepted is not asked again", async () => {
    assert.ok(showsConsent(await logIn(browser, org, await visit(browser, org))));
    await setTerms("1");
    const page = await visit(browser, org);
    assert.ok(showsTerms(page), "of a session that is there already");
    assert.ok(page.body.includes(`href="${URL_OF_TERMS}"`));
    assert.ok(showsConsent(await answer(page, "accept")));
    assert.ok(showsConsent(await visit(browser, org)));
    const [event, ...others] = await accepted();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [event?.actor, event?.target, event && Object(event.details)["version"]],
      [`user:${org.user.id}`, org.user.id, "1"],
    );
    await setTerms("2");
    assert.ok(showsTerms(await visit(browser, org)), "another version");
  });

  test("declined: the application hears access_denied, and is asked again the next time", async () => {
    await setTerms("1");
    const page = await logIn(browser, org, await visit(browser, org));
    assert.ok(showsTerms(page), page.body);
    assert.equal(answerOf(await answer(page, "decline")).get("error"), "access_denied");
    assert.ok(showsTerms(await visit(browser, org)));
    assert.deepEqual(await accepted(), []);
  });

  test("prompt=none: interaction_required", async () => {
    await logIn(browser, org, await visit(browser, org));
    await setTerms("1");
    const silent = answerOf(await visit(browser, org, { more: { prompt: "none" } }));
    assert.equal(silent.get("error"), "interaction_required");
  });

  test("only the version that the page has shown is accepted, from a form of this browser", async () => {
    await setTerms("1");
    const page = await logIn(browser, org, await visit(browser, org));
    await setTerms("2");
    const again = await answer(page, "accept");
    assert.ok(showsTerms(again));
    assert.match(again.body, /version 2/);
    const foreign = await browser.post(`${org.issuer}/terms`, {
      ...again.hidden,
      csrf: "x",
      decision: "accept",
    });
    assert.equal(foreign.status, 403);
    assert.deepEqual(await accepted(), []);
    assert.ok(showsConsent(await answer(again, "accept")));
    const twice = await answer(again, "accept");
    assert.ok(showsConsent(twice), "a form that is sent twice");
    assert.equal((await accepted()).length, 1);
  });

  test("a code is issued only afterwards, also by the form of the consent page", async () => {
    const consent = await logIn(browser, org, await visit(browser, org));
    await setTerms("1");
    const decided = await follow(
      browser,
      await browser.post(`${org.issuer}/authorize`, { ...consent.hidden, decision: "allow" }),
    );
    assert.ok(showsTerms(decided));
  });

  test("signed in by an email code: asked too", async () => {
    await setTerms("1");
    const { settings } = org.organisation;
    await changeOrganisationSettings(running.service, {
      ...{ orgId: org.organisation.id, actor: "test" },
      settings: { signInMethods: [...settings.signInMethods, "emailCode"] },
    });
    const first = await visit(browser, org);
    const { email } = org.user;
    const second = await follow(
      browser,
      await browser.post(`${org.issuer}/login`, { ...first.hidden, email }),
    );
    const sent = await follow(
      browser,
      await browser.post(`${org.issuer}/email-code`, { ...second.hidden, email, act: "send" }),
    );
    const mail = (await mailsTo(running.service, email)).at(-1)?.mail;
    assert.ok(mail?.template === "EmailCode");
    const form = { ...sent.hidden, "email-code": mail.data.code };
    assert.ok(showsTerms(await follow(browser, await browser.post(`${org.issuer}/email-code`, form))));
  });

  test("legacy federation: no session key before, and access_denied for who declines", async () => {
    const application: Application = await makeFederatedApp(running.service, org);
    await setTerms("1");
    const login = await federate(browser, running, application);
    assert.ok(showsLogin(login));
    const page = await logIn(browser, org, login);
    assert.ok(showsTerms(page), page.body);
    const declined = await answer(page, "decline");
    assert.equal(keyOf(declined), null);
    assert.equal(new URL(String(declined.location)).searchParams.get("error"), "access_denied");
    const silent = await federate(browser, running, application, { prompt: "none" });
    assert.equal(new URL(String(silent.location)).searchParams.get("error"), "interaction_required");
    const back = await answer(await federate(browser, running, application), "accept");
    assert.ok(keyOf(back));
  });

  test("legacy sign-in by API: no session key before", async () => {
    const account = await makeSystemAccount(running.service, org);
    const body = { Email: org.user.email, Password: org.user.password };
    const signIn = () =>
      callApi(`${running.baseUrl}/legacy/api/Authentication/User/Login`, account, { body });
    assert.equal((await signIn()).status, 200);
    await setTerms("1");
    const refused = await signIn();
    assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:terms-not-accepted"]);
  });

  test("a device is approved only afterwards", async () => {
    const tv = await makeDeviceApp(running.service, org);
    const codes = await askForCodes(org, tv);
    await setTerms("1");
    const page = await openVerify(browser, org);
    assert.ok(showsTerms(page), page.body);
    const declined = await answer(page, "decline");
    assert.equal(declined.status, 403);
    assert.match(declined.body, /id="terms-again"/);
    const form = await answer(page, "accept");
    assert.ok(showsCodeForm(form));
    await setTerms("2");
    const typed = await typeCode(browser, org, form, codes.userCode);
    const asked = await follow(browser, typed);
    assert.ok(showsTerms(asked), asked.body);
    assert.equal((await poll(org, codes)).body["error"], "authorization_pending");
    assert.ok(showsQuestion(await typeCode(browser, org, await answer(asked, "accept"), codes.userCode)));
  });

  test("account and console open without them: whoever declines can still leave", async () => {
    await logIn(browser, org, await visit(browser, org));
    await setTerms("1");
    const page = await follow(browser, await browser.get(`${org.issuer}/account`));
    assert.equal(page.status, 200);
    assert.ok(!showsTerms(page) && sessionCookie(browser, org));
  });
});
