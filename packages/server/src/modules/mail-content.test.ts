/** Whatever an organisation calls itself, its emails, and the pages behind their links, say nothing in our name. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createAction } from "../core/actions/actions.ts";
import { type ActionType, registrationSubject } from "../core/actions/user-action.ts";
import { mailTemplates, outsideTemplates } from "../core/mail/mail.ts";
import { createOrganisation } from "../core/organisations/organisations.ts";
import { inviteUser } from "../core/users/invitations/invitations.ts";
import { sampleMail } from "../features/admin-console/mail-templates/samples.ts";
import { testBrowser } from "../testing/fakes/browser.ts";
import { fakeClock } from "../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../testing/fakes/mailbox.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import { visit, withUser } from "../testing/fixtures/visit.ts";
import { makeOrganisation, startTestService, type TestService } from "../testing/test-service.ts";
import { mailComposer } from "./mail-content.ts";

const messagesAsNames = [
  "Your account was locked. Call +49 30 1234567 or visit https://evil.example now",
  "Verify at evil.example",
  "Hotline 0800 55 66 77",
  "Attention: sign in today",
  "Please pay the open invoice of last month today",
];

describe("names in emails and on the pages behind their links", () => {
  const clock = fakeClock();
  let running: TestService;
  before(async () => {
    running = await startTestService({
      databaseUrl: "sqlite::memory:",
      clock,
      passwords: quickPasswords,
      env: MAIL_ENV,
    });
  });
  after(() => running.close());

  const named = (name: string) =>
    createOrganisation(running.service, running.service.database.query, { name, actor: "test" });
  const compose = async (orgId: string, template: (typeof mailTemplates)[number], locale: string) => {
    const mail = sampleMail(template, { baseUrl: running.baseUrl, orgId, now: clock() });
    const content = await mailComposer({ ...running.service, baseUrl: running.baseUrl })({
      ...{ orgId, id: "1", recipient: "reader@home.example", locale, mail, createdAt: clock() },
    });
    assert.ok(content);
    return content;
  };

  test("a name that could be a message is in no part of an email, in any language", async () => {
    for (const name of messagesAsNames) {
      const organisation = await named(name);
      for (const template of mailTemplates)
        for (const locale of ["en", "da", "de", "fr", "es"]) {
          const all = Object.values(await compose(organisation.id, template, locale)).join("\n");
          for (const part of [name, "evil", "1234567", "55 66", "sign in today", "invoice"])
            assert.ok(!all.includes(part), `${template} ${locale}: ${part}`);
          assert.ok(all.includes(organisation.id.slice(-8)), "it has a name all the same");
        }
    }
  });

  test("an email to somebody outside quotes the name, beside the host of the service", async () => {
    const organisation = await named("Call your bank");
    const { host } = new URL(running.baseUrl);
    for (const template of mailTemplates) {
      const { subject, text, html } = await compose(organisation.id, template, "en");
      for (const part of [subject, text, html]) {
        const unquoted = part.replaceAll("“Call your bank”", "");
        assert.ok(!unquoted.includes("Call your bank"), template);
      }
      assert.ok(text.startsWith(`“Call your bank” · ${host}\n`), text);
    }
    const short = (await makeOrganisation(running.service, "Acme")).organisation;
    for (const template of outsideTemplates)
      assert.match((await compose(short.id, template, "en")).text, /“Acme”/);
    assert.match((await compose(short.id, "ResetPassword", "en")).subject, /for Acme$/);
  });

  test("an invitation names the verified address of who invites, and the service", async () => {
    const org = await makeOrganisation(running.service, "Acme");
    const admin = await withUser(running.service, org, "ada@acme.example");
    const deps = { ...running.service, baseUrl: running.baseUrl };
    const invite = async (email: string, actor: string) => {
      const person = { firstname: "", surname: "", role: "Standard" } as const;
      await inviteUser(deps, { organisation: org.organisation, email, ...person, actor });
      const [mail] = await mailsTo(running.service, email);
      assert.ok(mail);
      const composed = await mailComposer(deps)({ ...mail, id: "1", createdAt: clock() });
      return composed?.text ?? "";
    };
    const { host } = new URL(running.baseUrl);
    const text = await invite("guest@other.example", `user:${admin.user.id}`);
    assert.ok(text.includes(`\nInvited by: ada@acme.example\nService: ${host}\n`), text);
    assert.match(
      await invite("guest2@other.example", "operator"),
      /\nInvited by: an administrator or program of “Acme”\n/,
    );
    await running.service.database.query
      .updateTable("user_account")
      .set({ email_verified_at: null })
      .where("id", "=", admin.user.id)
      .execute();
    const unverified = await invite("guest3@other.example", `user:${admin.user.id}`);
    assert.ok(!unverified.includes("ada@acme.example"));
  });

  test("the pages behind links repeat no such name, of an organisation or an application", async () => {
    const [name = ""] = messagesAsNames;
    const org = await makeOrganisation(running.service, "Plain");
    const orgId = org.organisation.id;
    const { query } = running.service.database;
    await query.updateTable("organisation").set({ name }).where("id", "=", orgId).execute();
    await query
      .updateTable("application")
      .set({ name: "Call +49 30 1234567" })
      .where("id", "=", org.web.application.id)
      .execute();
    const signIn = await visit(testBrowser(), org);
    const [, flow] = /\/recovery\?flow=([^"&]+)"/.exec(signIn.body) ?? [];
    const pages = [`recovery?flow=${flow}`, `recovery/done?flow=${flow}`, "recovery/unknown"];
    assert.ok(flow);
    const link = async (type: ActionType, path: string, isRegistration = false) => {
      const { id } = await createAction(running.service.database.query, running.service, {
        orgId,
        type,
        userId: isRegistration ? registrationSubject() : org.user.id,
        data: {
          email: isRegistration ? "new@other.example" : org.user.email,
          flow: decodeURIComponent(flow),
          ...(type === "ChangeEmail" ? { newEmail: "next@other.example" } : {}),
          ...(isRegistration ? { registration: { firstname: name, surname: name, phone: null } } : {}),
        },
      });
      pages.push(`${path}${id}${path === "action/" ? `/${type}` : ""}`);
    };
    await link("ResetPassword", "recovery/");
    await link("VerifyEmail", "verify-email/");
    await link("VerifyEmail", "action/", true);
    for (const type of ["AcceptInvitation", "ChangeEmail"] as const) await link(type, "action/");
    for (const path of pages) {
      const { status, body } = await testBrowser().get(`${org.issuer}/${path}`);
      assert.ok(status === 200 || path.endsWith("unknown"), `${path} ${status}`);
      for (const part of ["locked", "evil", "1234567"]) assert.ok(!body.includes(part), `${path}: ${part}`);
      assert.ok(body.includes(`Organisation ${orgId.slice(-8)}`), path);
    }
  });
});
