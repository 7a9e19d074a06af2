/** A user without any second factor left asks the administrators: only after the right password, once a day, limited. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { resetFactors } from "../../../../core/second-factors/changes.ts";
import { listFactorResetRequests } from "../../../../core/second-factors/lost-factors/lost-factors.store.ts";
import { findUser } from "../../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../../testing/fixtures/administered-organisation.ts";
import { giveAuthenticator, showFactor, showsTwoFactor } from "../../../../testing/fixtures/factors.ts";
import { logIn, showsLogin, visit, withUser } from "../../../../testing/fixtures/visit.ts";
import {
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const DAY = 86_400_000;

describe("lost second factors", () => {
  forEachDatabase(({ fresh }) => {
    let clock: FakeClock;
    let running: TestService;
    let base: AdministeredOrganisation;
    let people = 0;
    before(async () => {
      clock = fakeClock();
      running = await startTestService({
        databaseUrl: await fresh(),
        passwords: quickPasswords,
        clock,
        env: MAIL_ENV,
      });
      base = await administeredOrganisation(running.service, "Acme");
    });
    after(() => running.close());

    const db = () => running.service.database.query;
    async function withFactor() {
      const org = await withUser(running.service, base, `lost-${people++}@acme.example`);
      return { org, app: await giveAuthenticator(running.service, org) };
    }
    async function atTwoFactor(browser: TestBrowser, org: TestOrganisation): Promise<TestPage> {
      const page = await logIn(browser, org, await visit(browser, org));
      assert.ok(showsTwoFactor(page));
      return page;
    }
    async function ask(browser: TestBrowser, org: TestOrganisation): Promise<TestPage> {
      const question = await showFactor(browser, org, await atTwoFactor(browser, org), { lost: "ask" });
      assert.match(question.body, /id="lost-request"/);
      return showFactor(browser, org, question, { lost: "request" });
    }
    const isSent = ({ body }: TestPage) => body.includes('id="lost-sent"');
    const requests = (now = clock()) =>
      listFactorResetRequests(db(), base.organisation.id, { since: now - 14 * DAY, limit: 10 });
    const hasAsked = async ({ user }: TestOrganisation) =>
      (await requests()).some(({ userId }) => userId === user.id);
    const events = async ({ user }: TestOrganisation) => {
      const rows = db().selectFrom("audit_event").select("actor").where("target", "=", user.id);
      return (await rows.where("action", "=", "second-factors.reset-requested").execute()).length;
    };
    const told = async ({ user }: TestOrganisation) =>
      (await mailsTo(running.service, base.administrator.email)).filter(
        ({ mail }) => mail.template === "FactorResetRequested" && mail.data.account === user.email,
      );

    test("the request reaches the administrators by email, in the overview and in the audit log", async () => {
      const { org } = await withFactor();
      assert.ok(isSent(await ask(testBrowser(), org)));
      const [mail, ...others] = await told(org);
      assert.equal(others.length, 0);
      assert.ok(mail?.mail.template === "FactorResetRequested");
      assert.equal(
        mail.mail.data.recordUri,
        `${running.baseUrl}/oauth/manage/${org.organisation.id}/users/${org.user.id}/security`,
      );
      assert.ok(await hasAsked(org));
      assert.equal(await events(org), 1);
      assert.ok(showsTwoFactor(await atTwoFactor(testBrowser(), org)), "nothing is reset");
    });

    test("the question alone, a forged form and a wrong password request nothing", async () => {
      const { org } = await withFactor();
      const browser = testBrowser();
      const page = await atTwoFactor(browser, org);
      await showFactor(browser, org, page, { lost: "ask" });
      assert.ok(!isSent(await showFactor(browser, org, page, { lost: "request", csrf: "of-somebody-else" })));
      const { pending: _, ...unproven } = page.hidden;
      const without = await browser.post(`${org.issuer}/twofactor`, { ...unproven, lost: "request" });
      assert.ok(showsLogin(without), "without the password there is nothing to ask");
      const stranger = testBrowser();
      const login = await visit(stranger, org);
      const wrong = await logIn(stranger, org, login, { password: "wrong" });
      assert.doesNotMatch(wrong.body, /factors-lost/);
      assert.ok(!(await hasAsked(org)));
      assert.equal(await events(org), 0);
    });

    test("asked again within a day, the page is the same and nobody is told again", async () => {
      const { org } = await withFactor();
      const pages = [await ask(testBrowser(), org), await ask(testBrowser(), org)];
      assert.ok(pages.every(isSent));
      assert.equal((await told(org)).length, 1);
      clock.advance(DAY + 1);
      assert.ok(isSent(await ask(testBrowser(), org)));
      assert.equal((await told(org)).length, 2);
    });

    test("an account's requests are limited", async () => {
      const { org } = await withFactor();
      const sent: TestPage[] = [];
      for (let index = 0; index < 6; index++) sent.push(await ask(testBrowser(), org));
      assert.deepEqual(
        sent.map(({ status }) => status),
        [200, 200, 200, 200, 200, 429],
      );
      assert.ok(sent.at(-1)?.headers.has("retry-after"));
    });

    test("the request is over after a reset, or once the factor is found again", async () => {
      const { org } = await withFactor();
      await ask(testBrowser(), org);
      const user = await findUser(db(), org.organisation.id, org.user.id);
      assert.ok(user);
      await resetFactors(running.service, { organisation: org.organisation, user, actor: "test" });
      assert.ok(!(await hasAsked(org)));

      const found = await withFactor();
      await ask(testBrowser(), found.org);
      assert.ok(await hasAsked(found.org));
      clock.advance(60_000);
      const browser = testBrowser();
      const page = await atTwoFactor(browser, found.org);
      await showFactor(browser, found.org, page, { code: found.app.code(clock()) });
      assert.ok(!(await hasAsked(found.org)));
    });
  });
});
