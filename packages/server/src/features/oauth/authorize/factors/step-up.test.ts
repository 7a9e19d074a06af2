import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { ApplicationSettings } from "../../../../core/applications/application.ts";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { acrValues } from "../../../../core/sessions/session.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { softPasskey } from "../../../../testing/fakes/soft-passkey.ts";
import {
  appOfPage,
  giveAuthenticator,
  givePasskey,
  passkeyOptions,
  recoveryCodesOf,
  showFactor,
  showsEnrolment,
  showsRecoveryCodes,
  showsTwoFactor,
} from "../../../../testing/fixtures/factors.ts";
import {
  answerOf,
  logIn,
  showsConsent,
  showsLogin,
  tokensOf,
  visit,
  withUser,
} from "../../../../testing/fixtures/visit.ts";
import { payloadOf } from "../../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const MINUTE = 60_000;
const { password: PWD, multiFactor: MFA, phishingResistant: PHR } = acrValues;
const essential = (...values: unknown[]) =>
  JSON.stringify({ id_token: { acr: { essential: true, values } } });

forEachDatabase(({ fresh }) => {
  let clock: FakeClock;
  let running: TestService;
  let home: TestOrganisation;
  let org: TestOrganisation;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    home = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(async () => {
    clock.advance(60 * MINUTE);
    org = await withUser(running.service, home, `user${++count}@acme.example`);
  });

  const demanding = (settings: Partial<ApplicationSettings>) =>
    makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      requireConsent: false,
      ...settings,
    });
  const password = async (browser: TestBrowser, asked = {}) =>
    logIn(browser, org, await visit(browser, org, asked));
  const acrOf = async (browser: TestBrowser, more: Record<string, string>) =>
    payloadOf((await tokensOf(browser, org, more)).idToken)["acr"];
  const errorOf = (page: TestPage) => answerOf(page).get("error");

  async function signedIn(kind: "password" | "app"): Promise<TestBrowser> {
    const browser = testBrowser();
    const page = await password(browser);
    if (kind === "password") assert.ok(showsConsent(page));
    else {
      const app = await giveAuthenticator(running.service, org);
      const asked = await visit(browser, org, { more: { prompt: "login" } });
      const factor = await logIn(browser, org, asked);
      assert.ok(showsConsent(await showFactor(browser, org, factor, { code: app.code(clock()) })));
    }
    return browser;
  }

  test("acr_values is a preference: without a second factor the sign-in succeeds and the token has the acr reached", async () => {
    const browser = await signedIn("password");
    assert.equal(await acrOf(browser, { acr_values: `${PHR} ${MFA}` }), PWD);
    assert.equal(await acrOf(browser, { acr_values: "urn:other:9" }), PWD);
  });

  test("a preferred acr asks a user with a second factor for the missing factor only, not for the password", async () => {
    const browser = await signedIn("password");
    clock.advance(30 * MINUTE);
    const app = await giveAuthenticator(running.service, org);
    const page = await visit(browser, org, { more: { acr_values: MFA } });
    assert.ok(showsTwoFactor(page), "no password again");
    assert.doesNotMatch(page.body, /name="remember"/);
    await showFactor(browser, org, page, { code: app.code(clock()) });
    const { idToken, claims } = await tokensOf(browser, org, { acr_values: MFA });
    assert.equal(payloadOf(idToken)["acr"], MFA);
    assert.equal(
      claims.auth_time,
      Math.floor((clock() - 30 * MINUTE) / 1000),
      "the password is as old as it is",
    );
  });

  test("prompt=none fails for a required acr, not for a preferred one", async () => {
    const browser = await signedIn("password");
    await tokensOf(browser, org);
    const silent = (more: Record<string, string>) =>
      visit(browser, org, { more: { prompt: "none", ...more } });
    assert.ok(answerOf(await silent({ acr_values: PHR })).get("code"));
    assert.equal(errorOf(await silent({ claims: essential(MFA) })), "interaction_required");
    await giveAuthenticator(running.service, org);
    assert.equal(errorOf(await silent({ claims: essential(MFA) })), "login_required");
  });

  test("the token's acr is the requested value when the session exceeds it", async () => {
    const browser = await signedIn("app");
    assert.equal(await acrOf(browser, {}), MFA);
    assert.equal(await acrOf(browser, { acr_values: PWD }), PWD);
    assert.equal(await acrOf(browser, { acr_values: `${PHR} ${MFA}` }), MFA);
    assert.equal(await acrOf(browser, { claims: essential(PWD) }), PWD);
    assert.equal(await acrOf(browser, { claims: essential(PHR, MFA) }), MFA);
  });

  test("an unsupported essential acr is unmet_authentication_requirements", async () => {
    const browser = await signedIn("app");
    for (const claims of [essential("urn:other:9"), essential("0", "1"), essential(5)]) {
      const page = await visit(browser, org, { more: { claims } });
      assert.equal(errorOf(page), "unmet_authentication_requirements", claims);
    }
    for (const claims of [
      essential(),
      '{"id_token":{"acr":{"essential":true}}}',
      '{"id_token":{"acr":null}}',
    ])
      assert.ok(answerOf(await acrPage(browser, claims)).get("code"), claims);
  });
  const acrPage = async (browser: TestBrowser, claims: string) => {
    await tokensOf(browser, org);
    return visit(browser, org, { more: { claims } });
  };

  test("a malformed claims parameter is invalid_request", async () => {
    const page = await visit(testBrowser(), org, { more: { claims: "{" } });
    assert.equal(errorOf(page), "invalid_request");
  });

  test("the application's required acr steps up a session, and enrols a factor for a user without one", async () => {
    const client = await demanding({ requiredAcr: MFA });
    const asked = { clientId: client.application.id };
    const browser = await signedIn("password");
    const page = await visit(browser, org, asked);
    assert.ok(showsEnrolment(page));
    assert.match(page.body, /Web requires more than a password/);
    const app = appOfPage(page);
    const wrong = await showFactor(browser, org, page, { code: "000000" });
    assert.equal(wrong.status, 401);
    assert.equal(
      appOfPage(wrong).secret,
      app.secret,
      "the same key, so that the app that has it is not wrong",
    );
    const codes = await showFactor(browser, org, wrong, { code: app.code(clock()) });
    assert.ok(showsRecoveryCodes(codes));
    assert.equal(recoveryCodesOf(codes).length, 10);
    // A step of the application's request: a window that the application has opened must stay connected to it.
    assert.equal(codes.headers.get("cross-origin-opener-policy"), "unsafe-none");
    const link = /id="codes-kept" href="([^"]+)"/.exec(codes.body)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const done = await browser.get(new URL(link, org.issuer).href);
    assert.ok(answerOf(done).get("code"));
    assert.equal(payloadOf((await tokensOf(browser, org)).idToken)["acr"], MFA);
  });

  test("enrolling a factor requires a password sign-in of the last ten minutes", async () => {
    const client = await demanding({ requiredAcr: MFA });
    const browser = await signedIn("password");
    clock.advance(10 * MINUTE);
    const page = await visit(browser, org, { clientId: client.application.id });
    assert.ok(showsLogin(page));
    assert.ok(showsEnrolment(await logIn(browser, org, page)));
  });

  test("a required passkey asks a user with an authenticator app for its code before the passkey is enrolled", async () => {
    const client = await demanding({ requiredAcr: PHR });
    const app = await giveAuthenticator(running.service, org);
    const browser = testBrowser();
    const first = await password(browser, { clientId: client.application.id });
    assert.ok(showsTwoFactor(first), "a password alone adds nothing to an account that has a second factor");
    const second = await showFactor(browser, org, first, { code: app.code(clock()) });
    assert.ok(showsEnrolment(second));
    assert.doesNotMatch(second.body, /name="code"/);
    const passkey = softPasskey({ origin: running.service.config.baseUrl });
    const added = passkey.register(passkeyOptions(second));
    await running.service.database.query
      .updateTable("user_account")
      .set({ locale: "fr" })
      .where("id", "=", org.user.id)
      .execute();
    const done = await showFactor(browser, org, second, { passkey: added });
    assert.ok(showsRecoveryCodes(done));
    assert.match(done.body, /<html lang="fr">/, "the user's own language");
    const { acr, amr } = payloadOf((await tokensOf(browser, org)).idToken);
    assert.equal(acr, PHR);
    assert.deepEqual(amr, ["pwd", "otp", "mfa", "hwk", "user"]);
  });

  test("neither a TOTP code nor a recovery code satisfies a required passkey", async () => {
    const client = await demanding({ requiredAcr: PHR });
    const passkey = await givePasskey(running.service, org);
    const app = await giveAuthenticator(running.service, org);
    const browser = testBrowser();
    const page = await password(browser, { clientId: client.application.id });
    assert.doesNotMatch(page.body, /choose-totp|choose-recovery/);
    for (const method of ["totp", "recovery"]) {
      const refused = await showFactor(browser, org, page, { method, code: app.code(clock()) });
      assert.equal(refused.status, 401);
    }
    const answer = passkey.answer(passkeyOptions(page));
    const done = await showFactor(browser, org, page, { passkey: answer });
    assert.ok(answerOf(done).get("code"));
  });

  test("an organisation that requires a second factor enrols one before anything is issued", async () => {
    const { organisation } = await makeOrganisation(running.service, `Strict${count}`);
    const strict = await makeClient(running.service, organisation, { redirectUris: [REDIRECT_URI] });
    org = await withUser(
      running.service,
      { ...org, organisation, web: strict, issuer: org.issuer.replace(org.organisation.id, organisation.id) },
      "uma@strict.example",
    );
    const open = await signedIn("password");
    await changeOrganisationSettings(running.service, {
      orgId: organisation.id,
      settings: { secondFactor: "required" },
      actor: "test",
    });
    const browser = testBrowser();
    const page = await password(browser);
    assert.ok(showsEnrolment(page));
    assert.match(page.body, new RegExp(`${organisation.name} requires a second factor`));
    assert.equal(
      errorOf(await visit(browser, org, { more: { prompt: "none" } })),
      "login_required",
      "no session",
    );
    assert.ok(showsEnrolment(await visit(open, org)), "a session of before issues nothing either");
    const codes = await showFactor(browser, org, page, { code: appOfPage(page).code(clock()) });
    assert.ok(showsRecoveryCodes(codes));
    assert.ok(showsConsent(await visit(browser, org)));
  });

  test("a session that has ended is not stepped up", async () => {
    const browser = await signedIn("password");
    const app = await giveAuthenticator(running.service, org);
    const page = await visit(browser, org, { more: { acr_values: MFA } });
    assert.ok(showsTwoFactor(page));
    const bye = await browser.get(`${org.issuer}/end_session`);
    await browser.post(`${org.issuer}/end_session`, bye.hidden);
    const after = await showFactor(browser, org, page, { code: app.code(clock()) });
    assert.ok(showsLogin(after));
  });

  test("a pending step-up is rejected in another session", async () => {
    const browser = await signedIn("password");
    const app = await giveAuthenticator(running.service, org);
    const page = await visit(browser, org, { more: { acr_values: MFA } });
    const own = org;
    org = await withUser(running.service, home, `mallory${count}@acme.example`);
    const mallory = await signedIn("password");
    const csrf = (await visit(mallory, org)).hidden["csrf"] ?? "";
    const taken = await showFactor(mallory, org, page, { csrf, code: app.code(clock()) });
    assert.doesNotMatch(taken.body, new RegExp(own.user.email));
    assert.equal((await tokensOf(mallory, org)).claims.sub, org.user.id);
    assert.equal(await acrOf(mallory, {}), PWD);
  });
});
