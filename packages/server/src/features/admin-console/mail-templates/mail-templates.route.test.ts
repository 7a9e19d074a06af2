/** The pages of the mails: each can be read in each language, runs nothing, and goes to nobody but who asks. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { mailTemplates } from "../../../core/mail/mail.ts";
import { isEditable } from "../../../core/mail/mail-texts.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { mailComposer } from "../../../modules/mail-content.ts";
import { mailsTo } from "../../../testing/fakes/mailbox.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { type ConsoleBrowser, consoleBrowser, textOf } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

describe("mail template pages", () => {
  let running: TestService;
  let org: SeededRecords;
  let here: ConsoleBrowser;
  before(async () => {
    const env = {
      SMTP_URL: "smtp://someone:secret-word@127.0.0.1:2525",
      SIGNET_MAIL_FROM: "post@acme.example",
    };
    running = await startTestService({ databaseUrl: "sqlite::memory:", env });
    org = await seedRecords(running.service, "Acme");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  /** The tests that wait to be sent, whoever they go to. */
  const waiting = async () => {
    const everybody = [org.administrator.email, org.user.email, "else@where.example"];
    const mails = await Promise.all(everybody.map((one) => mailsTo(running.service, one)));
    return mails.flat().filter(({ mail }) => mail.data.isTest);
  };

  test("lists every mail and the mail settings, without the password", async () => {
    const { body } = await here.get("/mail-templates");
    for (const template of mailTemplates) assert.ok(body.includes(`/mail-templates/${template}"`), template);
    assert.match(body, /post@acme\.example/);
    assert.match(body, /127\.0\.0\.1:2525/);
    assert.doesNotMatch(body, /secret-word|someone/);
  });

  test("previews every mail in every language, as text and in a sandboxed frame", async () => {
    for (const template of mailTemplates) {
      for (const language of ["en", "da"]) {
        const page = await here.get(`/mail-templates/${template}?language=${language}`);
        assert.equal(page.status, 200, template);
        assert.match(textOf(page, "mail-text") ?? "", /Acme/);
        assert.equal(page.body.includes('id="mail-text-form"'), isEditable(template), template);
        assert.match(
          page.body,
          new RegExp(`<iframe [^>]*src="[^"]*/${template}/html\\?language=${language}"[^>]* sandbox`),
        );
        assert.match(page.headers.get("content-security-policy") ?? "", /frame-src 'self'/);
        assert.match(page.body, /<script [^>]*src="\/assets\/frames\.[^"]+\.js"/);
      }
    }
    const document = await here.get("/mail-templates/NewSignIn/html?language=de");
    assert.match(document.body, /<html lang="de">/);
    const policy = document.headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'.*frame-ancestors 'self'.*sandbox$/);
    assert.doesNotMatch(policy, /script|allow-/);
    const odd = await here.get("/mail-templates/NewSignIn?language=%3Cb%3E");
    assert.doesNotMatch(odd.body, /<b>|&lt;b/, "a language that there is none of");
    for (const path of ["/mail-templates/None", "/mail-templates/toString/html"])
      assert.equal((await here.get(path)).status, 404, path);
  });

  test("sends a test mail to its sender, marked as a test and audited", async () => {
    const path = "/mail-templates/ResetPassword";
    const sent = await here.send(`${path}?language=fr`, { recipient: "else@where.example", language: "fr" });
    assert.match(sent.location ?? "", /language=fr&done=sent$/);
    const [mail, ...others] = await waiting();
    assert.deepEqual([mail?.recipient, mail?.locale, others.length], [org.administrator.email, "fr", 0]);
    assert.ok(mail);
    const composed = await mailComposer({ ...running.service, baseUrl: running.baseUrl })({
      ...mail,
      id: org.organisation.id,
      createdAt: 0,
    });
    assert.match(composed?.subject ?? "", /^Essai\s: /);
    assert.match(composed?.text ?? "", /à titre d’essai/);
    assert.doesNotMatch(composed?.text ?? "", /recovery\/[^\s]/, "no link that does something");
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual(
      [event?.action, event?.actor, event?.details],
      ["mail.test-sent", `user:${org.administrator.id}`, { template: "ResetPassword" }],
    );
  });

  test("limits test mails to ten an hour", async () => {
    const before = (await waiting()).length;
    const answers = [];
    for (let count = before; count < 11; count += 1)
      answers.push(await here.send("/mail-templates/NewSignIn"));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [...Array.from({ length: 10 - before }, () => 303), 429],
    );
    assert.ok(answers.at(-1)?.headers.get("retry-after"));
    assert.equal((await waiting()).length, 10);
  });

  test("previews in the organisation's language for readers of other languages", async () => {
    const settings = { defaultLocale: "es" };
    await changeOrganisationSettings(running.service, {
      orgId: org.organisation.id,
      settings,
      actor: "test",
    });
    const compose = mailComposer({ ...running.service, baseUrl: running.baseUrl });
    const mail = {
      orgId: org.organisation.id,
      id: org.organisation.id,
      recipient: "a@b.example",
      mail: { template: "NewSignIn", data: { at: 0 } },
      createdAt: 0,
    } as const;
    assert.equal((await compose({ ...mail, locale: "und" }))?.locale, "es");
    assert.equal((await compose({ ...mail, locale: "da-DK" }))?.locale, "da");
  });

  test("explains that mail is not set up, and sends nothing", async () => {
    const bare = await startTestService({ databaseUrl: "sqlite::memory:" });
    try {
      const there = await seedRecords(bare.service, "Bare");
      const console = await consoleBrowser(bare, there);
      const list = await console.get("/mail-templates");
      assert.match(list.body, /SMTP_URL/);
      const page = await console.get("/mail-templates/NewSignIn");
      assert.doesNotMatch(page.body, /id="test-send"/);
      // Of a form from before the mail was taken away.
      const { csrf = "", once = "" } = (await console.get("/scopes/new")).hidden;
      assert.equal((await console.post("/mail-templates/NewSignIn", { csrf, once })).status, 409);
    } finally {
      await bare.close();
    }
  });
});
