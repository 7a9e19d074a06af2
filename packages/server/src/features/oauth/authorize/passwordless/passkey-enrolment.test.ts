// Passkeys after sign-in: offered, put off, required; and what a browser is told of passkeys that are gone.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { OrganisationSettings } from "../../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { deletePasskeys, listPasskeys } from "../../../../core/second-factors/passkeys/passkeys.store.ts";
import { acrValues } from "../../../../core/sessions/session.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { softPasskey } from "../../../../testing/fakes/soft-passkey.ts";
import {
  giveAuthenticator,
  givePasskey,
  passkeyOptions,
  showFactor,
  showsEnrolment,
  showsRecoveryCodes,
  showsTwoFactor,
} from "../../../../testing/fixtures/factors.ts";
import {
  answerOf,
  follow,
  logIn,
  showsConsent,
  showsLogin,
  tokensOf,
  visit,
  withUser,
} from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let home: TestOrganisation;
  let org: TestOrganisation;
  let clock: FakeClock;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    home = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(async () => {
    clock.advance(3_600_000);
    await set({ passkeyEnrolment: "offer", signInMethods: ["password", "passkey"] });
    org = await withUser(running.service, home, `user${++count}@acme.example`);
  });

  const set = (settings: Partial<OrganisationSettings>) =>
    changeOrganisationSettings(running.service, { orgId: home.organisation.id, settings, actor: "test" });
  const signIn = async (browser = testBrowser(), more: Record<string, string> = {}) =>
    logIn(browser, org, await visit(browser, org, { more: { prompt: "login", ...more } }));
  const offers = ({ body }: TestPage) =>
    body.includes('id="passkey-offer-add"') && body.includes('id="passkey-offer-later"');
  const later = async (browser: TestBrowser, page: TestPage) =>
    follow(browser, await browser.post(`${org.issuer}/passkey-offer`, page.hidden));
  const add = (browser: TestBrowser, page: TestPage) =>
    showFactor(browser, org, page, {
      passkey: softPasskey({ origin: running.service.config.baseUrl }).register(passkeyOptions(page)),
    });
  const owned = () =>
    listPasskeys(running.service.database.query, { homeOrgId: org.organisation.id, userId: org.user.id });

  test("off: nobody is asked", async () => {
    await set({ passkeyEnrolment: "off" });
    assert.ok(showsConsent(await signIn()));
  });

  test("offered after sign-in; added, it signs in, and the session has it", async () => {
    const browser = testBrowser();
    const page = await signIn(browser);
    assert.ok(offers(page));
    assert.ok(showsRecoveryCodes(await add(browser, page)));
    assert.equal((await owned()).length, 1);
    const { claims } = await tokensOf(browser, org);
    assert.equal((claims as unknown as { acr: string }).acr, acrValues.phishingResistant);
  });

  test("put off, the sign-in goes on, and this user is not asked in this browser for a month", async () => {
    const browser = testBrowser();
    assert.ok(showsConsent(await later(browser, await signIn(browser))));
    assert.equal((await owned()).length, 0);
    assert.ok(showsConsent(await signIn(browser)));
    assert.ok(offers(await signIn()), "another browser");
    org = await withUser(running.service, home, `user${++count}@acme.example`);
    assert.ok(offers(await signIn(browser)), "another user of this browser");
  });

  test("never in the way of what asks for no sign-in, nor of a session that was there before", async () => {
    await set({ passkeyEnrolment: "off" });
    const browser = testBrowser();
    await signIn(browser);
    await set({ passkeyEnrolment: "offer" });
    clock.advance(1_000);
    assert.ok(showsConsent(await visit(browser, org)));
    const silent = await visit(browser, org, { more: { prompt: "none" } });
    assert.equal(answerOf(silent).get("error"), "consent_required");
  });

  test("whoever has a passkey is not asked", async () => {
    await givePasskey(running.service, org);
    assert.ok(showsTwoFactor(await signIn()));
  });

  test("a form of another browser puts nothing off and adds nothing", async () => {
    const browser = testBrowser();
    const page = await signIn(browser);
    assert.ok(offers(await later(browser, { ...page, hidden: { ...page.hidden, csrf: "" } })));
    const stranger = testBrowser();
    await visit(stranger, org);
    const answer = softPasskey({ origin: running.service.config.baseUrl }).register(passkeyOptions(page));
    await stranger.post(`${org.issuer}/twofactor`, { ...page.hidden, passkey: answer });
    assert.equal((await owned()).length, 0);
  });

  test("required: nobody goes on without one; an app is verified first; prompt=none says so", async () => {
    await set({ passkeyEnrolment: "required" });
    const browser = testBrowser();
    const page = await signIn(browser);
    assert.ok(showsEnrolment(page));
    assert.doesNotMatch(page.body, /passkey-offer-later/);
    assert.equal((await browser.post(`${org.issuer}/passkey-offer`, page.hidden)).status, 200);
    assert.ok(showsLogin(await visit(browser, org)), "no session without it");
    assert.ok(showsRecoveryCodes(await add(browser, page)));
    assert.ok(showsConsent(await visit(browser, org)));

    org = await withUser(running.service, home, `user${++count}@acme.example`);
    const app = await giveAuthenticator(running.service, org);
    const other = testBrowser();
    const factor = await signIn(other);
    assert.ok(showsTwoFactor(factor));
    const enrolment = await showFactor(other, org, factor, { code: app.code(clock()) });
    assert.ok(showsEnrolment(enrolment));
    assert.ok(showsRecoveryCodes(await add(other, enrolment)));
  });

  test("required: a session of before is asked at its next request", async () => {
    await set({ passkeyEnrolment: "off" });
    const browser = testBrowser();
    await signIn(browser);
    await set({ passkeyEnrolment: "required" });
    assert.ok(showsEnrolment(await visit(browser, org)));
    const silent = await visit(browser, org, { more: { prompt: "none" } });
    assert.equal(answerOf(silent).get("error"), "interaction_required");
  });

  test("a passkey that the account has no longer is named to the browser, one of nobody here is not", async () => {
    const passkey = await givePasskey(running.service, org);
    const use = async () => {
      const browser = testBrowser();
      const page = await visit(browser, org);
      const answer = passkey.answer(passkeyOptions(page));
      return browser.post(`${org.issuer}/login`, { ...page.hidden, passkey: answer });
    };
    await deletePasskeys(running.service.database.query, {
      ...{ homeOrgId: org.organisation.id, userId: org.user.id },
    });
    const refused = await use();
    assert.equal(refused.status, 401);
    assert.match(refused.body, /data-passkey-signals="[^"]*signalUnknownCredential[^"]*credentialId/);
    org = await makeOrganisation(running.service);
    assert.doesNotMatch((await use()).body, /data-passkey-signals/);
  });

  test("the account's own security page names the passkeys that are accepted, and the account", async () => {
    await set({ passkeyEnrolment: "off" });
    const browser = testBrowser();
    await signIn(browser);
    const security = () => browser.get(`${org.issuer}/account/security`);
    const signalled = ({ body }: TestPage) =>
      /data-passkey-signals="([^"]*)"/.exec(body)?.[1]?.replaceAll("&quot;", '"') ?? "{}";
    const none = JSON.parse(signalled(await security()));
    assert.deepEqual(none.signalAllAcceptedCredentials.allAcceptedCredentialIds, []);
    assert.equal(none.signalCurrentUserDetails.name, org.user.email);
    await set({ passkeyEnrolment: "offer" });
    const adding = await signIn(browser);
    await add(browser, adding);
    const [passkey] = await owned();
    const { signalAllAcceptedCredentials } = JSON.parse(signalled(await security()));
    assert.deepEqual(signalAllAcceptedCredentials.allAcceptedCredentialIds, [passkey?.id]);
  });
});
