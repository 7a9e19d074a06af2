/** What an organisation offers to sign in with is what signs in: on the pages and by call. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import type { OrganisationSettings } from "../../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { acrValues } from "../../../../core/sessions/session.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { softPasskey } from "../../../../testing/fakes/soft-passkey.ts";
import {
  giveAuthenticator,
  givePasskey,
  giveRecoveryCodes,
  passkeyOptions,
  showFactor,
  showsEnrolment,
  showsRecoveryCodes,
  showsTwoFactor,
} from "../../../../testing/fixtures/factors.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../../../testing/fixtures/system-account.ts";
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
import { payloadOf } from "../../../../testing/probes/answers.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

type Options = Parameters<ReturnType<typeof softPasskey>["answer"]>[0];

const PASSKEY_ONLY = { signInMethods: ["passkey"] } as const;
const WITHOUT_APP = { secondFactorMethods: ["passkey"] } as const;
const NEITHER_PASSKEY = { signInMethods: ["password"], secondFactorMethods: ["totp"] } as const;

forEachDatabase(({ fresh }) => {
  let clock: FakeClock;
  let running: TestService;
  let home: TestOrganisation;
  let org: TestOrganisation;
  let account: TestAccount;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    home = await makeOrganisation(running.service);
    account = await makeSystemAccount(running.service, home, { administrator: true });
  });
  after(() => running.close());
  beforeEach(async () => {
    clock.advance(3_600_000);
    await offer({ signInMethods: ["password", "passkey"], secondFactorMethods: ["totp", "passkey"] });
    org = await withUser(running.service, home, `user${++count}@acme.example`);
  });

  const offer = (settings: Partial<OrganisationSettings>) =>
    changeOrganisationSettings(running.service, {
      orgId: home.organisation.id,
      settings,
      actor: "test",
    });
  const withPassword = async (browser = testBrowser()) =>
    logIn(browser, org, await visit(browser, org, { more: { prompt: "login" } }));
  const loginByCall = async (more: Record<string, string> = {}) => {
    const { status, body } = await callApi(
      `${running.baseUrl}/legacy/api/Authentication/User/Login/${org.web.application.id}`,
      account,
      { body: { Email: org.user.email, Password: PASSWORD, ...more } },
    );
    return status === 200 ? "200" : `${status} ${String(body["type"]).replace("urn:signet:error:", "")}`;
  };

  test("the page shows what is offered, in the organisation's order", async () => {
    const orderOf = async (signInMethods: OrganisationSettings["signInMethods"]) => {
      await offer({ signInMethods });
      const { body } = await visit(testBrowser(), org);
      const places = {
        password: body.indexOf('id="login-submit"'),
        passkey: body.indexOf('id="passkey-submit"'),
      };
      const shown = Object.entries(places).filter(([, at]) => at >= 0);
      return {
        order: shown.sort(([, a], [, b]) => a - b).map(([method]) => method),
        isAside: /<details[^>]*id="without-passkey">[\s\S]*id="login-submit"/.test(body),
        autofill: /autocomplete="username webauthn"/.test(body),
      };
    };
    assert.deepEqual(await orderOf(["password", "passkey"]), {
      ...{ order: ["password", "passkey"], isAside: false, autofill: true },
    });
    assert.deepEqual(await orderOf(["passkey", "password"]), {
      ...{ order: ["passkey", "password"], isAside: false, autofill: true },
    });
    assert.deepEqual(await orderOf(["passkey"]), {
      ...{ order: ["passkey", "password"], isAside: true, autofill: true },
    });
    assert.deepEqual(await orderOf(["password"]), {
      ...{ order: ["password"], isAside: false, autofill: false },
    });
  });

  test("passkeys only: a right password leads to the passkey, and to nothing else", async () => {
    const passkey = await givePasskey(running.service, org);
    const [code = ""] = await giveRecoveryCodes(running.service, org);
    await offer(PASSKEY_ONLY);
    const browser = testBrowser();
    const asked = await withPassword(browser);
    assert.ok(showsTwoFactor(asked));
    assert.doesNotMatch(asked.body, /value="(totp|recovery)"/, "a code is no passkey");
    assert.equal((await showFactor(browser, org, asked, { method: "recovery", code })).status, 401);
    const answer = passkey.answer(passkeyOptions<Options>(asked));
    assert.ok(showsConsent(await showFactor(browser, org, asked, { passkey: answer })));
    const { idToken } = await tokensOf(browser, org);
    assert.equal(payloadOf(idToken)["acr"], acrValues.phishingResistant);
  });

  test("passkeys only: users without one add it before anything else, after the app that they have", async () => {
    await offer(PASSKEY_ONLY);
    const enrolment = await withPassword();
    assert.ok(showsEnrolment(enrolment));
    assert.doesNotMatch(enrolment.body, /id="totp-key"/);
    assert.match(enrolment.body, /Acme requires a passkey for all accounts/);

    const app = await giveAuthenticator(running.service, org);
    const browser = testBrowser();
    const asked = await withPassword(browser);
    assert.ok(showsTwoFactor(asked));
    const next = await showFactor(browser, org, asked, { code: app.code(clock()) });
    assert.ok(showsEnrolment(next), "the code alone signs nobody in");
    const passkey = softPasskey({ origin: running.service.config.baseUrl });
    const added = await showFactor(browser, org, next, { passkey: passkey.register(passkeyOptions(next)) });
    assert.ok(showsRecoveryCodes(added));
  });

  test("passkeys only: a session that began with a password is asked for one", async () => {
    const browser = testBrowser();
    assert.ok(showsConsent(await withPassword(browser)));
    await tokensOf(browser, org);
    await givePasskey(running.service, org);
    await offer(PASSKEY_ONLY);
    assert.ok(showsTwoFactor(await visit(browser, org)));
    const silent = await visit(browser, org, { more: { prompt: "none" } });
    assert.equal(answerOf(silent).get("error"), "login_required");
  });

  test("passkeys only: no password signs in by call", async () => {
    assert.equal(await loginByCall(), "200");
    await offer(PASSKEY_ONLY);
    assert.equal(await loginByCall(), "403 second-factor-enrolment-required");
    const app = await giveAuthenticator(running.service, org);
    await givePasskey(running.service, org);
    assert.equal(await loginByCall({ TwoFactorCode: app.code(clock()) }), "403 passkey-required");
  });

  test("passwords only: a passkey alone signs nobody in, and the attempt is audited", async () => {
    const passkey = await givePasskey(running.service, org);
    const browser = testBrowser();
    const page = await visit(browser, org);
    await offer(NEITHER_PASSKEY);
    const { csrf = "", flow = "" } = page.hidden;
    const answer = passkey.answer(passkeyOptions<Options>(page));
    const refused = await follow(
      browser,
      await browser.post(`${org.issuer}/login`, { csrf, flow, passkey: answer }),
    );
    assert.equal(refused.status, 401);
    assert.ok(showsLogin(refused));
    const [event] = await listAuditEvents(running.service.database.query, home.organisation.id, 1);
    assert.deepEqual([event?.action, event?.details], ["sign-in.failed", { reason: "passkeys are off" }]);
  });

  test("a passkey that isn't offered proves its owner only where it is the only second factor", async () => {
    const passkey = await givePasskey(running.service, org);
    await offer(NEITHER_PASSKEY);
    const browser = testBrowser();
    const alone = await withPassword(browser);
    assert.ok(showsTwoFactor(alone), "never the password alone");
    const answer = passkey.answer(passkeyOptions<Options>(alone));
    assert.ok(showsConsent(await showFactor(browser, org, alone, { passkey: answer })));

    const app = await giveAuthenticator(running.service, org);
    const other = testBrowser();
    const asked = await withPassword(other);
    assert.match(asked.body, /name="code"/);
    assert.doesNotMatch(asked.body, /data-passkey=/);
    assert.equal((await showFactor(other, org, asked, { method: "passkey", passkey: answer })).status, 401);
    assert.ok(showsConsent(await showFactor(other, org, asked, { code: app.code(clock()) })));
  });

  test("an app that isn't offered leads to a passkey; users with both show the passkey", async () => {
    const app = await giveAuthenticator(running.service, org);
    await offer(WITHOUT_APP);
    assert.equal(
      await loginByCall({ TwoFactorCode: app.code(clock()) }),
      "403 second-factor-enrolment-required",
    );
    const browser = testBrowser();
    const asked = await withPassword(browser);
    assert.ok(showsEnrolment(await showFactor(browser, org, asked, { code: app.code(clock()) })));

    await givePasskey(running.service, org);
    const [code = ""] = await giveRecoveryCodes(running.service, org);
    const both = await withPassword(testBrowser());
    assert.match(both.body, /data-passkey="get"/);
    assert.doesNotMatch(both.body, /value="totp"/);
    clock.advance(60_000);
    assert.equal(await loginByCall({ TwoFactorCode: app.code(clock()) }), "401 invalid-two-factor-code");
    assert.equal(await loginByCall({ TwoFactorCode: code }), "200", "recovery codes are for every factor");
  });

  test("accounts can't add what isn't offered", async () => {
    const browser = testBrowser();
    await withPassword(browser);
    const page = (rest: string) => browser.get(`${org.issuer}/account/security${rest}`);
    assert.equal((await page("/passkeys")).status, 200);
    assert.equal((await page("/authenticator")).status, 200);
    await offer(NEITHER_PASSKEY);
    assert.equal((await page("/passkeys")).status, 303);
    const { body } = await page("");
    assert.doesNotMatch(body, /id="passkey-add"/);
    assert.match(body, /id="totp-setup"/);
    await offer({ ...WITHOUT_APP, signInMethods: ["password"] });
    assert.equal((await page("/authenticator")).status, 303);
    assert.doesNotMatch((await page("")).body, /id="totp-setup"/);
  });
});
