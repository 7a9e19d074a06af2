// The pages around the sign-in: what no page of theirs holds, a field that is there twice or that is no text, is answered
// with the form once more, with what was typed but for passwords and codes. Nothing is done with it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Application } from "../../../core/applications/application.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { MAIL_ENV, newestLinkPage } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { askForCodes, makeDeviceApp } from "../../../testing/fixtures/device.ts";
import { giveAuthenticator } from "../../../testing/fixtures/factors.ts";
import { follow, logIn, signInAndConsent, visit, withUser } from "../../../testing/fixtures/visit.ts";
import { formsOn, textIn } from "../../../testing/probes/page-forms.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const SECRET = "a password that nobody reads again";

interface Filled {
  readonly browser: TestBrowser;
  readonly page: TestPage;
  /** Into the page's first form. */
  readonly typed: Readonly<Record<string, string>>;
  /** What is shown again of it. */
  readonly keeps: readonly string[];
}

describe("forms of the sign-in pages", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: TestOrganisation;
    let tv: Application;
    before(async () => {
      const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS: "recovery-address=1000/60" };
      running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords, env });
      org = await makeOrganisation(running.service);
      tv = await makeDeviceApp(running.service, org);
    });
    after(async () => {
      assert.deepEqual(running.errors, []);
      await running.close();
    });

    const signedIn = async (who = org): Promise<TestBrowser> => {
      const browser = testBrowser();
      await signInAndConsent(browser, who);
      return browser;
    };
    let people = 0;
    const somebody = () => withUser(running.service, org, `somebody-${people++}@acme.example`);

    const recoveryLink = async (who: TestOrganisation): Promise<string> => {
      const browser = testBrowser();
      const { hidden } = await browser.get(`${org.issuer}/recovery`);
      await browser.post(`${org.issuer}/recovery`, { ...hidden, email: who.user.email });
      return newestLinkPage(running.service, who.user.email);
    };
    /** In an organisation of its own, which wants confirmed addresses. */
    const unconfirmed = async () => {
      const strict = await makeOrganisation(running.service);
      const change = { orgId: strict.organisation.id, settings: { requireVerifiedEmail: true } };
      await changeOrganisationSettings(running.service, { ...change, actor: "test" });
      await running.service.database.query
        .updateTable("user_account")
        .set({ email_verified_at: null })
        .where("org_id", "=", strict.organisation.id)
        .execute();
      const browser = testBrowser();
      return { strict, browser, page: await logIn(browser, strict, await visit(browser, strict)) };
    };

    const forms: Readonly<Record<string, () => Promise<Filled>>> = {
      login: async () => {
        const browser = testBrowser();
        const typed = { email: org.user.email, password: org.user.password };
        return { browser, page: await visit(browser, org), typed, keeps: ["email"] };
      },
      "second factor": async () => {
        const who = await somebody();
        const app = await giveAuthenticator(running.service, who);
        const browser = testBrowser();
        const page = await logIn(browser, who, await visit(browser, who));
        // As for a page that is too old: from the beginning.
        return { browser, page, typed: { code: app.code(Date.now()) }, keeps: ["email"] };
      },
      consent: async () => {
        const browser = await signedIn();
        const page = await visit(browser, org, { more: { prompt: "consent" } });
        return { browser, page, typed: { decision: "allow" }, keeps: [] };
      },
      recovery: async () => {
        const browser = testBrowser();
        const page = await browser.get(`${org.issuer}/recovery`);
        return { browser, page, typed: { email: "lost@acme.example" }, keeps: ["email"] };
      },
      "new password": async () => {
        const browser = testBrowser();
        const page = await browser.get(await recoveryLink(await somebody()));
        return { browser, page, typed: { password: SECRET }, keeps: [] };
      },
      "a mail to confirm": async () => {
        const { browser, page } = await unconfirmed();
        return { browser, page, typed: {}, keeps: [] };
      },
      "confirm an address": async () => {
        const { strict, browser, page } = await unconfirmed();
        await browser.post(`${strict.issuer}/verify-email`, page.hidden);
        const link = await newestLinkPage(running.service, strict.user.email);
        return { browser, page: await browser.get(link), typed: {}, keeps: [] };
      },
      device: async () => {
        const browser = await signedIn();
        const { userCode } = await askForCodes(org, tv);
        const page = await browser.get(`${org.issuer}/device/verify`);
        return { browser, page, typed: { user_code: userCode }, keeps: ["user_code"] };
      },
    };

    for (const [name, fill] of Object.entries(forms))
      test(name, async () => {
        const { browser, page, typed, keeps } = await fill();
        const [form] = formsOn(page.body);
        assert.ok(form, page.body.slice(0, 500));
        const sent = { ...form.fields, ...typed };
        const events = () => countOf(running, "audit_event");
        for (const field of Object.keys(sent)) {
          const twice = new URLSearchParams([...Object.entries(sent), [field, "another"]]);
          const noText = new URLSearchParams({ ...sent, odd: "\0" });
          for (const odd of takesRequests(form.action) ? [twice] : [twice, noText]) {
            const before = await events();
            const answer = await browser.post(new URL(form.action, page.url).href, odd);
            const shown = await follow(browser, answer);
            const what = `${name}: ${field}: ${answer.status} ${shown.body.slice(0, 600)}`;
            assert.ok(answer.status === 403 || answer.status === 303, what);
            const forms = formsOn(shown.body);
            assert.ok(forms.length > 0 && new URL(shown.url).origin === new URL(org.issuer).origin, what);
            if (name !== "second factor") assert.equal(forms[0]?.action, form.action, what);
            for (const kept of keeps)
              assert.equal(textIn(shown.body, kept), { email: "", ...typed }[kept], what);
            for (const secret of [org.user.password, SECRET]) assert.ok(!shown.body.includes(secret), what);
            assert.equal(await events(), before, `${name}: ${field}: nothing is done`);
          }
        }
        const good = await browser.post(new URL(form.action, page.url).href, sent);
        assert.ok(good.status < 400, `${name}: ${good.status} ${good.body.slice(0, 500)}`);
      });
  });
});

/** Other sites post there too: what is no text is refused before it is known whose it is. */
const takesRequests = (action: string): boolean => action.endsWith("/authorize");

const countOf = async ({ service }: TestService, table: "audit_event"): Promise<number> =>
  (await service.database.query.selectFrom(table).selectAll().execute()).length;
