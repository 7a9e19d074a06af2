import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setPassword } from "../../../../core/users/users.ts";
import { composeMailBody } from "../../../../modules/mail-content.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  giveAuthenticator,
  givePasskey,
  passkeyOptions,
  showFactor,
  showsTwoFactor,
} from "../../../../testing/fixtures/factors.ts";
import { logIn, showsConsent, visit, withUser } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const FIREFOX = "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0";
const AGAIN = { more: { prompt: "login" } } as const;

describe("sign-ins with a new browser", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let running: TestService;
    let base: TestOrganisation;
    before(async () => {
      const options = { databaseUrl: await fresh(), clock, passwords: quickPasswords, env: MAIL_ENV };
      running = await startTestService(options);
      base = await makeOrganisation(running.service);
    });
    after(() => running.close());

    let people = 0;
    const somebody = () => withUser(running.service, base, `person-${people++}@acme.example`);
    async function signIn(browser: TestBrowser, org: TestOrganisation) {
      clock.advance(1_000);
      return logIn(browser, org, await visit(browser, org, AGAIN));
    }
    const noticesTo = async (org: TestOrganisation) =>
      (await mailsTo(running.service, org.user.email)).map(({ mail }) => mail);
    const cookieOf = (browser: TestBrowser) => browser.cookies.get(`signet-known-${base.organisation.id}`);

    test("a new browser is notified by email once", async () => {
      const org = await somebody();
      const [first, second] = [testBrowser(), testBrowser()];
      for (let time = 0; time < 3; time += 1) await signIn(first, org);
      assert.equal((await noticesTo(org)).length, 1);
      await signIn(second, org);
      await signIn(first, org);
      const notices = await noticesTo(org);
      assert.deepEqual(
        notices.map(({ template }) => template),
        ["NewSignIn", "NewSignIn"],
      );
    });

    test("the email names time, address and browser in fixed words", async () => {
      const org = await somebody();
      const browser = testBrowser();
      const { hidden } = await visit(browser, org);
      const { email, password } = org.user;
      await browser.post(
        `${org.issuer}/login`,
        { ...hidden, email, password },
        { "user-agent": `${FIREFOX} <b>` },
      );
      const seen = { at: clock(), address: "127.0.0.1", browser: "Firefox, Windows" };
      assert.deepEqual(await noticesTo(org), [
        { template: "NewSignIn", data: { ...seen, isVerified: true } },
      ]);
    });

    test("a browser known for one user is new for another", async () => {
      const [one, other] = [await somebody(), await somebody()];
      const browser = testBrowser();
      await signIn(browser, one);
      await signIn(browser, other);
      assert.equal((await noticesTo(other)).length, 1);
      await signIn(browser, one);
      assert.equal((await noticesTo(one)).length, 1);
    });

    test("a password change makes every browser new again", async () => {
      const org = await somebody();
      const browser = testBrowser();
      await signIn(browser, org);
      await signIn(browser, org);
      assert.equal((await noticesTo(org)).length, 1);
      await setPassword(running.service, {
        organisation: org.organisation,
        id: org.user.id,
        password: "walnut orbit seventeen",
        about: [],
        actor: "test",
      });
      await logIn(browser, org, await visit(browser, org), { password: "walnut orbit seventeen" });
      const told = (await noticesTo(org)).map(({ template }) => template);
      assert.deepEqual(told.slice(-1), ["NewSignIn"]);
      assert.equal(told.filter((template) => template === "NewSignIn").length, 2);
    });

    test("a guest is notified by the visited organisation with a link to their home organisation", async () => {
      const org = await somebody();
      const host = await makeOrganisation(running.service, `Host${people}`);
      const { id: hostId, name } = host.organisation;
      await running.service.database.query
        .insertInto("membership")
        .values({
          org_id: hostId,
          user_id: org.user.id,
          home_org_id: base.organisation.id,
          role: "Standard",
          created_at: clock(),
        })
        .execute();
      const passkey = await givePasskey(running.service, org);
      const browser = testBrowser();
      const page = await visit(browser, host);
      const { csrf = "", flow = "" } = page.hidden;
      const answer = passkey.answer(passkeyOptions(page));
      await browser.post(`${host.issuer}/login`, { csrf, flow, passkey: answer });
      const [notice] = await mailsTo(running.service, org.user.email);
      assert.ok(notice);
      const { baseUrl } = running.service.config;
      const outgoing = { ...notice, id: "", createdAt: clock() };
      const body = await composeMailBody({ ...running.service, baseUrl }, outgoing);
      assert.equal(body?.organisation.name, `“${name}”`);
      assert.equal(body?.action?.uri, `${base.issuer}/recovery`);
    });

    test("the recognition cookie is HttpOnly and persistent, and stored as a hash", async () => {
      const org = await somebody();
      const browser = testBrowser();
      const { hidden } = await visit(browser, org);
      const { email, password } = org.user;
      const page = await browser.post(`${org.issuer}/login`, { ...hidden, email, password });
      const line = page.headers.getSetCookie().find((cookie) => cookie.startsWith("signet-known-"));
      assert.match(line ?? "", /; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/);
      const token = cookieOf(browser) ?? "";
      assert.match(token, /^sgn_kb_[A-Za-z0-9_-]{43}$/);
      const rows = await running.service.database.query.selectFrom("known_browser").selectAll().execute();
      assert.ok(!JSON.stringify(rows).includes(token));
      await signIn(browser, org);
      assert.equal(cookieOf(browser), token, "the same from then on");
    });

    test("the recognition cookie grants no access, and a forged one is replaced", async () => {
      const org = await somebody();
      const browser = testBrowser();
      await signIn(browser, org);
      const thief = testBrowser();
      thief.cookies.set(`signet-known-${base.organisation.id}`, cookieOf(browser) ?? "");
      assert.ok((await visit(thief, org)).body.includes('id="login-submit"'));
      const maker = testBrowser();
      maker.cookies.set(`signet-known-${base.organisation.id}`, "chosen");
      await signIn(maker, org);
      assert.match(cookieOf(maker) ?? "", /^sgn_kb_/);
    });

    test("neither a wrong password nor a pending second factor counts as a sign-in", async () => {
      const org = await somebody();
      const app = await giveAuthenticator(running.service, org);
      const browser = testBrowser();
      await logIn(browser, org, await visit(browser, org), { password: "not the password" });
      const factor = await signIn(browser, org);
      assert.ok(showsTwoFactor(factor));
      assert.deepEqual(await noticesTo(org), []);
      assert.ok(showsConsent(await showFactor(browser, org, factor, { code: app.code(clock()) })));
      assert.equal((await noticesTo(org)).length, 1);
    });
  });
});

test("without a mail server users sign in, and their browsers are recorded", async (t) => {
  const running = await startTestService({ databaseUrl: "sqlite::memory:", passwords: quickPasswords });
  t.after(() => running.close());
  const org = await makeOrganisation(running.service);
  const browser = testBrowser();
  assert.ok(showsConsent(await logIn(browser, org, await visit(browser, org))));
  assert.deepEqual(await mailsTo(running.service, org.user.email), []);
  const rows = await running.service.database.query.selectFrom("known_browser").selectAll().execute();
  assert.equal(rows.length, 1);
});
