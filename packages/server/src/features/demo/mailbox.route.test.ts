import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { deliverDueMails, type MailLine } from "../../core/mail/delivery.ts";
import { sendNotice } from "../../core/mail/notices.ts";
import { findUser } from "../../core/users/users.store.ts";
import { mailComposer } from "../../modules/mail-content.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { testBrowser } from "../../testing/fakes/browser.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { follow } from "../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

describe("demo mailbox", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: TestOrganisation;
    before(async () => {
      running = await startTestService({
        databaseUrl: await fresh(),
        passwords: quickPasswords,
        demo: async (service) => {
          org = await makeOrganisation(service);
          const { id } = org.organisation;
          return { organisationIds: [id], orgId: id, clientId: org.native.id, credentialsFile: "demo.json" };
        },
      });
    });
    after(() => running.close());

    const lines: MailLine[] = [];
    const deliver = () =>
      deliverDueMails({
        ...running.service,
        compose: mailComposer({ ...running.service, baseUrl: running.baseUrl }),
        transport: running.service.mailTransport,
        note: (line) => lines.push(line),
      });

    test("the landing page links the mailbox, which is empty at first", async () => {
      const browser = testBrowser();
      const start = await browser.get(`${running.baseUrl}/`);
      assert.match(start.body, /id="demo-mailbox" href="\/demo\/mailbox"/);
      const page = await browser.get(`${running.baseUrl}/demo/mailbox`);
      assert.equal(page.status, 200);
      assert.match(page.body, /id="mailbox-empty"/);
    });

    test("an email appears immediately, stays after delivery, and its link never appears in the log", async () => {
      const browser = testBrowser();
      const form = await browser.get(`${org.issuer}/recovery`);
      await browser.post(`${org.issuer}/recovery`, { ...form.hidden, email: org.user.email });
      const read = async () => {
        const list = await browser.get(`${running.baseUrl}/demo/mailbox`);
        assert.match(list.body, /user@acme\.example/);
        const uri =
          /href="(\/demo\/mailbox\/[^"]+)">Reset your password for Acme</.exec(list.body)?.[1] ?? "";
        const mail = await browser.get(new URL(uri, running.baseUrl).href);
        return /id="mail-action" href="([^"]+)"/.exec(mail.body)?.[1] ?? "";
      };
      const link = await read();
      assert.ok(link.startsWith(`${running.baseUrl}/reset/sgn_ua_`));
      await deliver();
      assert.deepEqual(lines, [{ template: "ResetPassword", attempts: 1, outcome: "in the mailbox" }]);
      assert.equal(await read(), link);
      assert.match((await follow(browser, await browser.get(link))).body, /id="new-password-submit"/);
      assert.doesNotMatch(JSON.stringify([running.lines, running.errors, lines]), /sgn_ua_/);
    });

    test("recovery for an unknown address adds no email", async () => {
      const browser = testBrowser();
      const form = await browser.get(`${org.issuer}/recovery`);
      await browser.post(`${org.issuer}/recovery`, { ...form.hidden, email: "nobody@acme.example" });
      const list = await browser.get(`${running.baseUrl}/demo/mailbox`);
      assert.equal(list.body.match(/Reset your password for Acme/g)?.length, 1);
    });

    test("a notice shows its origin, escaped", async () => {
      const { database } = running.service;
      const user = await findUser(database.query, org.organisation.id, org.user.id);
      assert.ok(user);
      const origin = { address: "<script>alert(1)</script>", userAgent: "Firefox/1 Windows" };
      await database.transaction((tx) =>
        sendNotice(tx, running.service, user, { template: "PasswordChanged" }, origin),
      );
      const browser = testBrowser();
      const list = await browser.get(`${running.baseUrl}/demo/mailbox`);
      const uri =
        /href="(\/demo\/mailbox\/[^"]+)">Your password for Acme was changed</.exec(list.body)?.[1] ?? "";
      const { body } = await browser.get(new URL(uri, running.baseUrl).href);
      assert.match(body, /<dd>Firefox, Windows<\/dd>/);
      assert.match(body, /&lt;script&gt;alert/);
      assert.doesNotMatch(body, /<script>alert/);
    });

    test("an unknown or malformed id returns 404", async () => {
      for (const id of ["1", "01998d6e-0000-7000-8000-000000000001", "%3Cscript%3E"])
        assert.equal((await testBrowser().get(`${running.baseUrl}/demo/mailbox/${id}`)).status, 404);
    });
  });
});

test("the mailbox exists only in demo mode without SMTP", async (t) => {
  const plain = await startTestService({ databaseUrl: "sqlite::memory:" });
  const sending = await startTestService({
    databaseUrl: "sqlite::memory:",
    env: { SMTP_URL: "smtp://127.0.0.1:9", SIGNET_MAIL_FROM: "no-reply@id.example" },
    demo: async () => ({ organisationIds: [], orgId: "", clientId: "", credentialsFile: "" }),
  });
  t.after(() => Promise.all([plain.close(), sending.close()]));
  for (const { baseUrl } of [plain, sending]) {
    assert.equal((await testBrowser().get(`${baseUrl}/demo/mailbox`)).status, 404);
    assert.doesNotMatch((await testBrowser().get(`${baseUrl}/`)).body, /demo-mailbox/);
  }
});
