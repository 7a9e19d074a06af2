/** Invitations sign in: the link proved the mailbox and the password was just chosen. Other links don't. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { requestNewEmail } from "../../../core/users/account-mails.ts";
import { inviteUser } from "../../../core/users/invitations/invitations.ts";
import { findUser, findUserByEmail } from "../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { MAIL_ENV, mailsTo, newestLink } from "../../../testing/fakes/mailbox.ts";
import { showsEnrolment } from "../../../testing/fixtures/factors.ts";
import { follow, logIn, showsLogin, withUser } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const CHOSEN = "walnut orbit seventeen";

describe("links that end a journey", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: TestOrganisation;
    let people = 0;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), env: MAIL_ENV });
      org = await makeOrganisation(running.service);
    });
    after(() => running.close());

    const mailDeps = () => ({ ...running.service, baseUrl: running.baseUrl });
    async function invitation(at = org): Promise<{ email: string; link: string }> {
      const email = `ivy-${people++}@acme.example`;
      const person = { firstname: "Ivy", surname: "Invited", role: "Standard", actor: "test" } as const;
      await inviteUser(mailDeps(), { organisation: at.organisation, email, ...person });
      return { email, link: await newestLink(running.service, email) };
    }
    async function accept(browser: TestBrowser, link: string): Promise<TestPage> {
      const page = await follow(browser, await browser.get(link));
      return follow(browser, await browser.post(page.url, { ...page.hidden, password: CHOSEN }));
    }
    const accountOf = async (browser: TestBrowser, { issuer } = org) =>
      follow(browser, await browser.get(`${issuer}/account`));
    const sessionsOf = async (email: string) => {
      const db = running.service.database.query;
      const found = await findUserByEmail(db, org.organisation.id, email);
      const rows = await db
        .selectFrom("browser_session")
        .select(["amr", "acr"])
        .where("user_id", "=", found?.user.id ?? "")
        .execute();
      return rows.map(({ acr }) => acr);
    };

    test("an accepted invitation is signed in with the password, once", async () => {
      const { email, link } = await invitation();
      const browser = testBrowser();
      const home = await accept(browser, link);
      assert.equal(home.status, 200);
      assert.ok(home.url.startsWith(`${org.issuer}/account`), home.url);
      assert.match(home.body, new RegExp(email));
      assert.deepEqual(await sessionsOf(email), ["urn:signet:acr:pwd"]);
      const again = testBrowser();
      const used = await follow(again, await again.get(link));
      assert.equal(used.status, 404);
      assert.ok(showsLogin(await accountOf(again)), "the link signs in nobody else");
    });

    test("where a second factor is required, the invitation leads to its enrolment, without a session", async (t) => {
      const orgId = org.organisation.id;
      const set = (secondFactor: "required" | "optional") =>
        changeOrganisationSettings(running.service, { orgId, settings: { secondFactor }, actor: "test" });
      await set("required");
      t.after(() => set("optional"));
      const { email, link } = await invitation();
      const page = await accept(testBrowser(), link);
      assert.ok(showsEnrolment(page));
      assert.deepEqual(await sessionsOf(email), []);
    });

    test("whoever is signed in stays who they are", async () => {
      const admin = await withUser(running.service, org, `admin-${people++}@acme.example`);
      const browser = testBrowser();
      await logIn(browser, admin, await accountOf(browser));
      const { email, link } = await invitation();
      const page = await accept(browser, link);
      assert.match(page.body, /<h1>Your account is ready<\/h1>/);
      assert.match(page.body, /id="to-account"[^>]*>Go to your account</);
      assert.deepEqual(await sessionsOf(email), []);
      assert.match((await accountOf(browser)).body, new RegExp(admin.user.email));
    });

    test("a link without a new password signs in nobody, and its page has a sign-in button", async () => {
      const { user } = await withUser(running.service, org, `moves-${people++}@acme.example`);
      const found = await findUser(running.service.database.query, org.organisation.id, user.id);
      assert.ok(found);
      const newEmail = `moved-${people++}@acme.example`;
      await requestNewEmail(mailDeps(), found, { newEmail, actor: "test" });
      // Whose account gets the address is said in the email too: the mailbox may be somebody else's.
      const [{ mail } = {}] = await mailsTo(running.service, newEmail);
      assert.ok(mail?.template === "ChangeEmail" && mail.data.account === found.email);
      const browser = testBrowser();
      const link = await newestLink(running.service, newEmail);
      assert.ok(link.startsWith(`${running.baseUrl}/confirm/`));
      const page = await accept(browser, link);
      assert.match(page.body, /<h1>Email address changed<\/h1>/);
      assert.match(page.body, /class="button primary" id="to-account"[^>]*\/account">Sign in</);
      assert.ok(showsLogin(await accountOf(browser)));
    });
  });
});
