/** The editor of an email's text: what is typed is shown, checked, saved for one language, and taken back. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listMailTexts } from "../../../core/mail/mail-texts.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { MAIL_ENV } from "../../../testing/fakes/mailbox.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  textOf,
} from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(1)</script>`;

describe("the text of an email", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: SeededRecords;
    let here: ConsoleBrowser;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), env: MAIL_ENV });
      org = await seedRecords(running.service, "Acme");
      here = await consoleBrowser(running, org);
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const stored = () => listMailTexts(running.service.database.query, org.organisation.id);
    /** Sends the editor's form, opened in a language. */
    async function save(template: string, language: string, changes: Record<string, string>) {
      const page = await here.get(`/mail-templates/${template}?language=${language}`);
      assert.equal(page.status, 200);
      return here.post(`/mail-templates/${template}/text`, formOfPage(page, changes));
    }

    test("opens with the built-in text, and saving it unchanged stores nothing", async () => {
      const { body } = await here.get("/mail-templates/ResetPassword?language=de");
      assert.match(body, /name="subject"[^>]* value="[^"]*\{organisation\}/);
      const sent = await save("ResetPassword", "de", {});
      assert.match(sent.location ?? "", /language=de&done=reset$/);
      assert.deepEqual(await stored(), []);
    });

    test("saves what differs, for one language, and resets it", async () => {
      const sent = await save("NewSignIn", "fr", { subject: "Bonjour de {organisation}", heading: "" });
      assert.match(sent.location ?? "", /\/mail-templates\/NewSignIn\?language=fr&done=saved$/);
      const texts = await stored();
      assert.deepEqual(
        texts.map(({ template, locale, text }) => [template, locale, text]),
        [["NewSignIn", "fr", { subject: "Bonjour de {organisation}" }]],
      );
      const french = await here.get("/mail-templates/NewSignIn?language=fr&done=saved");
      assert.equal(textOf(french, "mail-subject"), "Bonjour de Acme");
      assert.match(french.body, /Email text saved/);
      assert.match(french.body, /id="mail-text-reset"/);
      const english = await here.get("/mail-templates/NewSignIn?language=en");
      assert.match(textOf(english, "mail-subject") ?? "", /^New sign-in/);
      assert.match(textOf(await here.get("/mail-templates"), "text-NewSignIn") ?? "", /^Own: Français$/i);

      const reset = await save("NewSignIn", "fr", { reset: "1" });
      assert.match(reset.location ?? "", /done=reset$/);
      assert.deepEqual(await stored(), []);
    });

    test("refuses what could mislead, and keeps what was typed", async () => {
      for (const [field, value] of [
        ["subject", "Call +49 30 1234567"],
        ["subject", "A\r\nBcc: boss"],
        ["heading", "\u202Eevil"],
        ["body", "Go to https://evil.example"],
        ["body", "{link}"],
        ["button", "x".repeat(41)],
      ] as const) {
        const sent = await save("ResetPassword", "en", { [field]: value });
        assert.equal(sent.status, 400, value);
        assert.ok(textOf(sent, `${field}-fault`), value);
        assert.match(sent.body, /id="mail-html"/);
      }
      assert.deepEqual(await stored(), []);
    });

    test("hostile text is text: in the editor, the preview and its plain version", async () => {
      const sent = await save("PasswordChanged", "en", { subject: HOSTILE, heading: HOSTILE, body: HOSTILE });
      assert.equal(sent.status, 303);
      for (const path of ["?language=en", "/html?language=en"]) {
        const { body } = await here.get(`/mail-templates/PasswordChanged${path}`);
        assert.ok(body.includes("&lt;script&gt;alert(1)"), path);
        assert.doesNotMatch(body, /<script>alert|<img src=x/, path);
      }
      await save("PasswordChanged", "en", { reset: "1" });
    });

    test("previews what is typed, in a sandbox, and stores nothing", async () => {
      const page = await here.get("/mail-templates/NewSignIn?language=en");
      const typed = { subject: "Draft for {organisation}", body: `See https://evil.example ${HOSTILE}` };
      const shown = await here.post("/mail-templates/NewSignIn/html", formOfPage(page, typed));
      assert.equal(shown.status, 200);
      assert.match(shown.body, /<h1[^>]*>Draft for Acme<\/h1>/);
      assert.doesNotMatch(shown.body, /<script>alert|<img src=x|href="https:\/\/evil/);
      assert.match(shown.headers.get("content-security-policy") ?? "", /default-src 'none'.*sandbox$/);
      const plain = await here.post("/mail-templates/NewSignIn/html?part=text", formOfPage(page, typed));
      assert.match(plain.body, /<pre[^>]*>Acme · /);
      assert.deepEqual(await stored(), []);
      const forged = await here.post("/mail-templates/NewSignIn/html", { subject: "Forged", language: "en" });
      assert.equal(forged.status, 403);
      assert.doesNotMatch(forged.body, /Forged/);
    });

    test("an email to people outside has no editor, and takes no text", async () => {
      const page = await here.get("/mail-templates/AcceptInvitation");
      assert.match(page.body, /can’t be changed/);
      const { hidden } = await here.get("/mail-templates/NewSignIn");
      const sent = await here.post("/mail-templates/AcceptInvitation/text", { ...hidden, subject: "Own" });
      assert.equal(sent.status, 404);
      assert.deepEqual(await stored(), []);
    });

    test("a text that somebody else has changed meanwhile isn't overwritten", async () => {
      const page = await here.get("/mail-templates/EmailChanged?language=en");
      await save("EmailChanged", "en", { subject: "First" });
      const late = await here.post(
        "/mail-templates/EmailChanged/text",
        formOfPage(page, { subject: "Second" }),
      );
      assert.equal(late.status, 409);
      assert.equal((await stored())[0]?.text.subject, "First");
      assert.match(textOf(late, "subject-now") ?? "", /First/);
      await save("EmailChanged", "en", { reset: "1" });
    });
  });
});
