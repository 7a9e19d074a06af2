/** Sign-in by call: the same checks, limits and silence as the sign-in page's. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { changeOrganisationSettings } from "../../core/organisations/organisations.ts";
import { grantApplication } from "../../core/system-accounts/system-accounts.ts";
import { createUser, setUserStatus } from "../../core/users/users.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { testBrowser } from "../../testing/fakes/browser.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { giveAuthenticator, givePasskey, giveRecoveryCodes } from "../../testing/fixtures/factors.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../testing/fixtures/system-account.ts";
import { logIn, showsLogin, visit, withUser } from "../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const HOUR = 3_600_000;

describe("sign-in by call", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let checks = 0;
    const passwords = {
      ...quickPasswords,
      verify: (...args: Parameters<typeof quickPasswords.verify>) => {
        checks += 1;
        return quickPasswords.verify(...args);
      },
    };
    let running: TestService;
    let org: TestOrganisation;
    let account: TestAccount;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), clock, passwords, env: MAIL_ENV });
      org = await makeOrganisation(running.service);
      account = await makeSystemAccount(running.service, org, { administrator: true });
    });
    after(() => running.close());

    let users = 0;
    const newUser = () => withUser(running.service, org, `user${users++}@acme.example`);
    const login = (
      who: { user: { email: string; password?: string } },
      more: Record<string, unknown> = {},
      path = `/${org.web.application.id}`,
    ) =>
      callApi(`${running.baseUrl}/legacy/api/Authentication/User/Login${path}`, account, {
        body: { Email: who.user.email, Password: PASSWORD, ...more },
      });
    const grantedClient = async (settings: Parameters<typeof makeClient>[2]) => {
      const { application } = await makeClient(running.service, org.organisation, settings);
      const grant = { orgId: org.organisation.id, id: account.id, applicationId: application.id };
      await grantApplication(running.service, { ...grant, actor: "test" });
      return application.id;
    };
    const typeOf = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
      `${status} ${String(body["type"]).replace("urn:signet:error:", "")}`;
    const validate = (key: unknown) =>
      callApi(`${running.baseUrl}/legacy/api/auth/validate?key=${String(key)}`, undefined);

    test("issues a session key that lasts as long as the session without a first use", async () => {
      const who = await newUser();
      const { status, body } = await login(who);
      assert.equal(status, 200);
      assert.equal(Date.parse(String(body["ExpiresAt"])), clock() + 12 * HOUR);
      assert.equal((body["User"] as Record<string, unknown>)["Email"], who.user.email);
      clock.advance(30 * 60_000);
      const shown = await validate(body["Key"]);
      assert.deepEqual([shown.status, shown.body["ApplicationId"]], [200, org.web.application.id]);
      assert.equal((await login(who, {}, "")).status, 200, "the account's own application without one");
    });

    test("responds alike, and in the same time, to an unknown address and a wrong password", async () => {
      const who = await newUser();
      const seen: unknown[] = [];
      for (const [email, password] of [
        [who.user.email, "wrong"],
        ["nobody@acme.example", PASSWORD],
        [who.user.email, "x".repeat(5_000)],
        ["nobody@acme.example", "x".repeat(5_000)],
      ]) {
        const before = checks;
        const { status, body, headers } = await login(
          { user: { email: email ?? "" } },
          { Password: password },
        );
        const names = [...headers.keys()].filter((name) => name !== "date").sort();
        seen.push({ status, body: { ...body, instance: "" }, names, checks: checks - before });
      }
      for (const one of seen) assert.deepEqual(one, seen[0]);
      assert.match(JSON.stringify(seen[0]), /"status":401.*invalid-credentials.*"checks":1/);
    });

    test("counts and audits failures together with those of the sign-in page, where the end user's address is told", async () => {
      const who = await newUser();
      const trusted = await makeSystemAccount(running.service, org, { endUserAddress: true });
      const headers = { "x-end-user-address": "127.0.0.1" };
      const attempt = (password: string) =>
        callApi(`${running.baseUrl}/legacy/api/Authentication/User/Login`, trusted, {
          headers,
          body: { Email: who.user.email, Password: password },
        });
      for (let time = 0; time < 10; time += 1) await attempt("wrong");
      const limited = await attempt(PASSWORD);
      assert.equal(typeOf(limited), "429 rate-limited");
      assert.ok(Number(limited.headers.get("retry-after")) > 0);
      assert.match(limited.headers.get("ratelimit-policy") ?? "", /password-account/);
      const browser = testBrowser();
      const page = await logIn(browser, org, await visit(browser, org), who.user);
      assert.equal(page.status, 429, "the page too");
      const events = await listAuditEvents(running.service.database.query, org.organisation.id, 50);
      const failures = events.filter(
        ({ action, target }) => action === "sign-in.failed" && target === who.user.id,
      );
      assert.equal(failures.length, 10);
      clock.advance(HOUR);
    });

    test("requires a second factor, accepts a code once and counts failures", async () => {
      const who = await newUser();
      const app = await giveAuthenticator(running.service, who);
      assert.equal(typeOf(await login(who)), "401 two-factor-required");
      assert.equal(typeOf(await login(who, { Password: "wrong" })), "401 invalid-credentials");
      assert.equal(typeOf(await login(who, { TwoFactorCode: "000000" })), "401 invalid-two-factor-code");
      const code = app.code(clock());
      const both = await Promise.all([1, 2].map(() => login(who, { TwoFactorCode: code })));
      assert.deepEqual(both.map(typeOf).sort(), ["200 undefined", "401 invalid-two-factor-code"]);
      const { body } = both.find(({ status }) => status === 200) ?? {};
      const identity = await callApi(
        `${running.baseUrl}/legacy/api/Authentication/Account/VerifyIdentity/${String(body?.["Key"])}`,
        undefined,
      );
      assert.deepEqual(identity.body["Amr"], ["pwd", "otp", "mfa"]);
      for (let time = 0; time < 10; time += 1) await login(who, { TwoFactorCode: "000000" });
      clock.advance(30_000);
      assert.equal(typeOf(await login(who, { TwoFactorCode: app.code(clock()) })), "429 rate-limited");
      clock.advance(HOUR);
      assert.equal(typeOf(await login(who, { TwoFactorCode: app.code(clock()) })), "200 undefined");
    });

    test("accepts a recovery code once and audits it", async () => {
      const who = await newUser();
      await giveAuthenticator(running.service, who);
      const [code = ""] = await giveRecoveryCodes(running.service, who);
      assert.equal((await login(who, { TwoFactorCode: code })).status, 200);
      assert.equal(typeOf(await login(who, { TwoFactorCode: code })), "401 invalid-two-factor-code");
      const events = await listAuditEvents(running.service.database.query, org.organisation.id, 20);
      assert.ok(
        events.some(({ action, target }) => action === "recovery-code.used" && target === who.user.id),
      );
    });

    test("reports which step needs a browser, to callers who know the password", async () => {
      const passkeyOnly = await newUser();
      await givePasskey(running.service, passkeyOnly);
      assert.equal(typeOf(await login(passkeyOnly)), "403 passkey-required");
      assert.equal(typeOf(await login(passkeyOnly, { TwoFactorCode: "123456" })), "403 passkey-required");
      const path = `/${await grantedClient({ requiredAcr: "phr" })}`;
      assert.equal(typeOf(await login(passkeyOnly, {}, path)), "403 passkey-required");
      const plain = await newUser();
      assert.equal(typeOf(await login(plain, {}, path)), "403 second-factor-enrolment-required");
      assert.equal(typeOf(await login(plain, { Password: "wrong" }, path)), "401 invalid-credentials");
      const closed = `/${await grantedClient({ access: "assigned" })}`;
      assert.equal(typeOf(await login(plain, {}, closed)), "403 not-assigned");
      const key = { orgId: org.organisation.id, id: plain.user.id, disabled: true, actor: "test" };
      await setUserStatus(running.service, key);
      assert.equal(typeOf(await login(plain)), "403 account-disabled");
    });

    test("enforces the organisation's second factor and email verification rules", async () => {
      const { service } = running;
      const strict = await makeOrganisation(service, "Strict");
      const own = await makeSystemAccount(service, strict);
      const orgId = strict.organisation.id;
      const set = (settings: object) =>
        changeOrganisationSettings(service, { orgId, settings, actor: "test" });
      const ask = (email: string) =>
        callApi(`${running.baseUrl}/legacy/api/Authentication/User/Login`, own, {
          body: { Email: email, Password: PASSWORD },
        });
      await set({ secondFactor: "required" });
      assert.equal(typeOf(await ask(strict.user.email)), "403 second-factor-enrolment-required");
      await set({ secondFactor: "optional", passkeyEnrolment: "required" });
      assert.equal(typeOf(await ask(strict.user.email)), "403 second-factor-enrolment-required");
      await set({ passkeyEnrolment: "off", requireVerifiedEmail: true });
      assert.equal((await ask(strict.user.email)).status, 200);
      await createUser(service, {
        organisation: strict.organisation,
        ...{ email: "new@strict.example", password: PASSWORD, firstname: "N", surname: "N" },
        ...{ role: "Standard", emailVerified: false, actor: "test" },
      });
      assert.equal(typeOf(await ask("new@strict.example")), "403 email-not-verified");
    });

    test("notifies the user of the first sign-in through an application", async () => {
      const who = await newUser();
      const told = async () =>
        (await mailsTo(running.service, who.user.email)).map(({ mail }) => mail.template);
      await login(who);
      await login(who);
      assert.deepEqual(await told(), ["NewSignIn"]);
    });

    test("starts no browser session, and keeps password and key out of the logs", async () => {
      const who = await newUser();
      const { body } = await login(who);
      assert.ok(showsLogin(await visit(testBrowser(), org)));
      const lines = JSON.stringify(running.lines);
      assert.ok(!lines.includes(String(body["Key"])) && !lines.includes("sgn_sk_"));
      assert.deepEqual(running.errors, []);
    });
  });
});
