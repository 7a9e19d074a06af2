/** "Forgot your password?": one answer for every address, and a mail for those that are somebody's. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setUserStatus } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import { logIn, showsLogin, visit, withUser } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const HOUR = 3_600_000;

/** A page without what differs from one request to the next: tokens, nonces, and the address that was typed. */
const settled = (page: TestPage, email: string): string =>
  page.body.replaceAll(email, "ADDRESS").replace(/nonce="[^"]*"/g, "");

describe("forgotten passwords", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let running: TestService;
    let org: TestOrganisation;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), clock, env: MAIL_ENV });
      org = await makeOrganisation(running.service);
    });
    after(() => running.close());

    const ask = async (browser: TestBrowser, email: string, more: Record<string, string> = {}) => {
      const form = await browser.get(`${org.issuer}/recovery`);
      return browser.post(`${org.issuer}/recovery`, { ...form.hidden, email, ...more });
    };
    const countOf = async (table: "outgoing_mail" | "user_action" | "audit_event") =>
      (await running.service.database.query.selectFrom(table).selectAll().execute()).length;
    const counts = () => Promise.all((["outgoing_mail", "user_action", "audit_event"] as const).map(countOf));

    test("the sign-in page links to recovery and back with the flow", async () => {
      const browser = testBrowser();
      const signIn = await visit(browser, org);
      const uri = /id="forgot-password" href="([^"]+)"/.exec(signIn.body)?.[1] ?? "";
      const form = await browser.get(new URL(uri, org.issuer).href);
      assert.match(form.body, /to continue to Web/);
      const back = /id="back-to-sign-in" href="([^"]+)"/.exec(form.body)?.[1] ?? "";
      const again = await browser.get(new URL(back, org.issuer).href);
      assert.ok(showsLogin(again));
      assert.equal(again.hidden["flow"], signIn.hidden["flow"]);
    });

    test("the page's language doesn't disclose an account; a signed-in user reads their own", async () => {
      const somebody = await withUser(running.service, org, "odile@acme.example");
      await running.service.database.query
        .updateTable("user_account")
        .set({ locale: "fr" })
        .where("id", "=", somebody.user.id)
        .execute();
      const stranger = testBrowser();
      assert.match((await ask(stranger, somebody.user.email)).body, /<html lang="en">/);
      const own = testBrowser();
      await logIn(own, somebody, await visit(own, somebody));
      assert.match((await own.get(`${org.issuer}/recovery`)).body, /<html lang="fr">/);
      assert.match((await ask(own, "nobody@acme.example")).body, /<html lang="fr">/);
    });

    test("an address with an account gets one email with a link, in any case", async () => {
      const user = await withUser(running.service, org, "Olga@acme.example");
      const page = await ask(testBrowser(), " oLGA@Acme.example ");
      assert.equal(page.status, 200);
      const mails = await mailsTo(running.service, user.user.email);
      assert.deepEqual(
        mails.map(({ mail }) => mail.template),
        ["ResetPassword"],
      );
      const [sent] = mails;
      assert.ok(sent && "link" in sent.mail.data);
      assert.ok(sent.mail.data.link.startsWith(`${running.baseUrl}/reset/sgn_ua_`));
      assert.equal(sent.mail.data.expiresAt, clock() + HOUR);
      assert.equal(sent.orgId, org.organisation.id);
    });

    test("an unknown address gets the same response for the same work", async () => {
      const known = await withUser(running.service, org, "known@acme.example");
      const disabled = await withUser(running.service, org, "disabled@acme.example");
      await setUserStatus(running.service, {
        orgId: org.organisation.id,
        id: disabled.user.id,
        disabled: true,
        actor: "test",
      });
      const seen: unknown[] = [];
      for (const email of [known.user.email, "unknown@acme.example", disabled.user.email]) {
        const before = await counts();
        await ask(testBrowser(), email);
        const between = await counts();
        // Again: what takes the place of another waits for it, when many are sent at once.
        const page = await ask(testBrowser(), email);
        const after = await counts();
        const rows = [between.map((count, at) => count - (before[at] ?? 0))];
        rows.push(after.map((count, at) => count - (between[at] ?? 0)));
        const headers = [...page.headers.keys()].filter((name) => name !== "date").sort();
        const body = settled(page, email).replace(/value="[^"]*"/g, "");
        seen.push({ status: page.status, headers, body, rows });
      }
      assert.deepEqual(seen[1], seen[0]);
      assert.deepEqual(seen[2], seen[0]);
      assert.equal((await mailsTo(running.service, known.user.email)).length, 2);
      assert.equal((await mailsTo(running.service, "unknown@acme.example")).length, 0);
      assert.equal((await mailsTo(running.service, disabled.user.email)).length, 0);
      const stored = await running.service.database.query.selectFrom("outgoing_mail").selectAll().execute();
      assert.doesNotMatch(JSON.stringify(stored), /unknown@acme/);
    });

    test("a form of another site or browser sends no email", async () => {
      const user = await withUser(running.service, org, "csrf@acme.example");
      const form = await testBrowser().get(`${org.issuer}/recovery`);
      const foreign = await testBrowser().post(`${org.issuer}/recovery`, {
        ...form.hidden,
        email: user.user.email,
      });
      assert.equal(foreign.status, 403);
      assert.match(foreign.body, /value="csrf@acme\.example"/, "what was typed is kept");
      const browser = testBrowser();
      const own = await browser.get(`${org.issuer}/recovery`);
      const crossSite = await browser.post(
        `${org.issuer}/recovery`,
        { ...own.hidden, email: user.user.email },
        { "sec-fetch-site": "cross-site" },
      );
      assert.equal(crossSite.status, 403);
      assert.deepEqual(await mailsTo(running.service, user.user.email), []);
    });

    test("an invalid address is reported", async () => {
      for (const email of [
        "",
        "uma",
        "uma@acme.example\r\nBcc: eve@evil.example",
        "<script>alert(1)</script>",
      ]) {
        const page = await ask(testBrowser(), email);
        assert.equal(page.status, 422, email);
        assert.doesNotMatch(page.body, /<script>alert/);
      }
    });

    test("a mailbox gets five emails an hour, and others are not affected", async () => {
      const user = await withUser(running.service, org, "often@acme.example");
      const statuses: number[] = [];
      for (let time = 0; time < 6; time += 1)
        statuses.push((await ask(testBrowser(), user.user.email)).status);
      assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
      const limited = await ask(testBrowser(), user.user.email);
      assert.equal(limited.headers.get("retry-after"), "3600");
      assert.match(limited.headers.get("ratelimit-policy") ?? "", /^"recovery-account";q=5;w=3600$/);
      assert.equal((await mailsTo(running.service, user.user.email)).length, 5);
      assert.equal((await ask(testBrowser(), "somebody-else@acme.example")).status, 200);
      clock.advance(HOUR);
      assert.equal((await ask(testBrowser(), user.user.email)).status, 200);
    });

    test("an unknown address has the same limit", async () => {
      const statuses: number[] = [];
      for (let time = 0; time < 6; time += 1)
        statuses.push((await ask(testBrowser(), "none@acme.example")).status);
      assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
    });

    test("a network can request sixty emails a minute", async () => {
      clock.advance(HOUR);
      const browser = testBrowser();
      const form = await browser.get(`${org.issuer}/recovery`);
      const statuses = new Map<number, number>();
      for (let time = 0; time < 63; time += 1) {
        const { status } = await browser.post(`${org.issuer}/recovery`, {
          ...form.hidden,
          email: `nobody-${time}@acme.example`,
        });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      assert.deepEqual(
        [...statuses],
        [
          [200, 60],
          [429, 3],
        ],
      );
      clock.advance(60_000);
      assert.equal((await ask(testBrowser(), "late@acme.example")).status, 200);
    });

    test("the email is in the user's language, or the page's", async () => {
      const user = await withUser(running.service, org, "lang@acme.example");
      await ask(testBrowser(), user.user.email);
      await running.service.database.query
        .updateTable("user_account")
        .set({ locale: "da-DK" })
        .where("id", "=", user.user.id)
        .execute();
      await ask(testBrowser(), user.user.email);
      assert.deepEqual(
        (await mailsTo(running.service, user.user.email)).map(({ locale }) => locale),
        ["en", "da-DK"],
      );
    });

    test("neither link nor address reaches the logs", () => {
      assert.deepEqual(running.errors, []);
      assert.doesNotMatch(JSON.stringify(running.lines), /sgn_ua|@acme/);
    });
  });
});

test("without a mail server the page says so and names whom to ask", async (t) => {
  const running = await startTestService({ databaseUrl: "sqlite::memory:" });
  t.after(() => running.close());
  const org = await makeOrganisation(running.service);
  const browser = testBrowser();
  const form = await browser.get(`${org.issuer}/recovery`);
  assert.match(form.body, /Email is not set up[\s\S]*Ask an administrator of Acme/);
  assert.doesNotMatch(form.body, /<form/);
  await visit(browser, org);
  const { hidden } = await visit(browser, org);
  const page = await browser.post(`${org.issuer}/recovery`, { ...hidden, email: org.user.email });
  assert.match(page.body, /Email is not set up/);
  assert.deepEqual(await mailsTo(running.service, org.user.email), []);
});
