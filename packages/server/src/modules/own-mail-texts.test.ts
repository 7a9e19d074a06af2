/** An organisation's own texts are in its emails to users with a verified address, and in no others. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../core/audit/audit.store.ts";
import { type Mail, mailTemplates } from "../core/mail/mail.ts";
import type { MailText } from "../core/mail/mail-text.ts";
import { listMailTexts, saveMailText } from "../core/mail/mail-texts.store.ts";
import { changeMailText, type EditableTemplate, InvalidMailText } from "../core/mail/mail-texts.ts";
import { sendPasswordReset } from "../core/users/account-mails.ts";
import { findUser } from "../core/users/users.store.ts";
import { sampleMail } from "../features/admin-console/mail-templates/samples.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { MAIL_ENV, mailsTo } from "../testing/fakes/mailbox.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";
import { mailComposer } from "./mail-content.ts";

describe("an organisation's own email texts", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: TestOrganisation;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), env: MAIL_ENV });
      org = await makeOrganisation(running.service, "Acme");
    });
    after(() => running.close());

    const change = (
      text: MailText,
      template: EditableTemplate = "NewSignIn",
      locale = "en",
      orgId = org.organisation.id,
    ) =>
      changeMailText(running.service, { orgId, template, locale, text, actor: "test", address: "192.0.2.1" });
    const compose = async (mail: Mail, locale = "en", orgId = org.organisation.id) => {
      const deps = { ...running.service, baseUrl: running.baseUrl };
      const recipient = "uma@acme.example";
      const content = await mailComposer(deps)({ orgId, id: "1", recipient, locale, mail, createdAt: 0 });
      assert.ok(content);
      return content;
    };
    const sample = (template: Mail["template"], orgId = org.organisation.id): Mail =>
      sampleMail(template, { baseUrl: running.baseUrl, orgId, now: Date.UTC(2026, 10, 23) });
    const unverified = ({ template, data }: Mail): Mail => {
      const { isVerified: _, ...others } = data;
      return { template, data: others } as Mail;
    };

    test("replace subject, heading, body and button, and nothing that protects the reader", async () => {
      const builtIn = await compose(sample("NewSignIn"));
      await change({
        subject: "Hello from {organisation}",
        heading: "A <b>new</b> sign-in",
        body: "First <script>alert(1)</script> & more\n\nSecond at {time}",
        button: "Change it",
      });
      const { subject, text, html } = await compose(sample("NewSignIn"));
      assert.equal(subject, "Hello from Acme");
      assert.ok(
        text.includes("\n\nFirst <script>alert(1)</script> & more\n\nSecond at 23 Nov 2026, 00:00 UTC\n\n"),
        text,
      );
      assert.ok(html.includes(">A &lt;b&gt;new&lt;/b&gt; sign-in</h1>"));
      assert.ok(html.includes(">First &lt;script&gt;alert(1)&lt;/script&gt; &amp; more</p>"));
      assert.ok(html.includes(">Change it</a>"));
      for (const kept of ["Wasn’t you?", "192.0.2.7", "/recovery", "Acme · ", "Sent by Signet for"]) {
        assert.ok(builtIn.text.includes(kept), kept);
        assert.ok(text.includes(kept) && html.includes(kept), kept);
      }
    });

    test("one field alone leaves the others built in; another language and organisation have their own", async () => {
      const other = (await makeOrganisation(running.service, "Other")).organisation.id;
      const builtIn = await compose(sample("ResetPassword"));
      await change({ subject: "Only this" }, "ResetPassword");
      const changed = await compose(sample("ResetPassword"));
      assert.equal(changed.subject, "Only this");
      assert.equal(changed.text, builtIn.text);
      assert.match((await compose(sample("ResetPassword"), "de")).subject, /Passwort/);
      assert.match((await compose(sample("ResetPassword", other), "en", other)).subject, /for Other$/);
      await change({}, "ResetPassword");
      assert.equal((await compose(sample("ResetPassword"))).subject, builtIn.subject);
    });

    test("reach nobody whose address isn't verified, and no template that is fixed", async () => {
      await change({ body: "Own words" });
      assert.match((await compose(sample("NewSignIn"))).text, /Own words/);
      assert.doesNotMatch((await compose(unverified(sample("NewSignIn")))).text, /Own words/);
      for (const template of mailTemplates) {
        const row = { orgId: org.organisation.id, template, locale: "da", updatedAt: 0 };
        await saveMailText(running.service.database.query, { ...row, text: { body: "Own words" } });
      }
      for (const template of ["AcceptInvitation", "AcceptRoaming", "VerifyEmail", "ChangeEmail"] as const)
        assert.doesNotMatch((await compose(sample(template), "da")).text, /Own words/, template);
    });

    test("a password reset carries whether the user's address is verified", async () => {
      const deps = { ...running.service, baseUrl: running.baseUrl };
      const { database } = running.service;
      const user = await findUser(database.query, org.organisation.id, org.user.id);
      assert.ok(user);
      for (const emailVerified of [true, false])
        await sendPasswordReset(deps, { ...user, emailVerified }, { actor: "test" });
      const mails = await mailsTo(running.service, org.user.email);
      assert.deepEqual(mails.map(({ mail }) => mail.data.isVerified ?? false).sort(), [false, true]);
    });

    test("a refused text changes nothing; a change and a reset are audited, an idle reset isn't", async () => {
      const orgId = (await makeOrganisation(running.service, "Audited")).organisation.id;
      const events = async () =>
        (await listAuditEvents(running.service.database.query, orgId, 50)).filter(
          ({ action }) => action === "mail-text.changed",
        );
      const set = (text: MailText) => change(text, "PasswordChanged", "fr", orgId);
      await assert.rejects(set({ subject: "A\r\nBcc: b" }), InvalidMailText);
      await set({});
      assert.deepEqual(
        [await listMailTexts(running.service.database.query, orgId), await events()],
        [[], []],
      );
      await set({ subject: "Bonjour", body: "Oui" });
      const [stored] = await listMailTexts(running.service.database.query, orgId);
      assert.deepEqual(stored?.text, { subject: "Bonjour", body: "Oui" });
      await set({});
      const [reset, changed] = await events();
      assert.deepEqual(changed?.details, {
        ...changed?.details,
        ...{ template: "PasswordChanged", language: "fr", fields: ["subject", "body"] },
      });
      assert.deepEqual(reset?.details?.["fields"], []);
      assert.equal((await listMailTexts(running.service.database.query, orgId)).length, 0);
    });
  });
});
