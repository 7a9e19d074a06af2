import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createGroup } from "../../../../core/groups/groups.ts";
import { findOrganisation } from "../../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { findSignUp } from "../../../../core/sign-ups/sign-ups.store.ts";
import { findUserByEmail } from "../../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { MAIL_ENV, mailsTo } from "../../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../../testing/fixtures/administered-organisation.ts";
import { follow, logIn } from "../../../../testing/fixtures/visit.ts";
import { newWaitingSignUp } from "../../../../testing/fixtures/waiting-sign-up.ts";
import { startTestService, type TestService } from "../../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: AdministeredOrganisation;
  let browser: TestBrowser;
  let made = 0;
  before(async () => {
    running = await startTestService({
      databaseUrl: await fresh(),
      env: MAIL_ENV,
      passwords: quickPasswords,
    });
  });
  beforeEach(async () => {
    org = await administeredOrganisation(running.service, `Org${made++}`);
    await changeOrganisationSettings(running.service, {
      ...{ orgId: org.organisation.id, actor: "test" },
      settings: { signUp: { mode: "approval", groups: [] } },
    });
    browser = testBrowser();
    const login = await follow(browser, await browser.get(at("")));
    await logIn(browser, { ...org, user: org.administrator }, login);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const at = (rest: string) => `${running.baseUrl}/oauth/manage/${org.organisation.id}${rest}`;
  const open = async (rest: string) => follow(browser, await browser.get(at(rest)));
  const waiting = (firstname?: string) =>
    newWaitingSignUp(running.service, org.organisation.id, firstname === undefined ? {} : { firstname });
  const find = (id: string) => findSignUp(running.service.database.query, { orgId: org.organisation.id, id });

  test("the number stands in the navigation and beside the users, and the list names who waits", async () => {
    const id = await waiting("Ida");
    await waiting("Otto");
    const users = await open("/users");
    assert.match(users.body, /id="nav-users"[^>]*>.*<span class="count">2<\/span>/);
    assert.match(users.body, /id="users-sign-ups"[^>]*>[^<]*(<[^>]*>)*[^<]*Sign-ups \(2\)/);
    const list = await open("/users/sign-ups");
    assert.match(list.body, /Ida Nye/);
    assert.match(list.body, new RegExp(`new-${id}@acme\\.example`));
    const found = await open("/users/sign-ups?search=otto");
    assert.doesNotMatch(found.body, /Ida Nye/);
  });

  test("approved: the account is there, and the page says so", async () => {
    const id = await waiting();
    const question = await open(`/users/sign-ups/${id}/approve`);
    assert.match(question.body, /Approve Nora Nye\?/);
    const done = await follow(browser, await browser.post(question.url, question.hidden));
    assert.match(done.body, /Sign-up approved\./);
    const email = `new-${id}@acme.example`;
    const account = await findUserByEmail(running.service.database.query, org.organisation.id, email);
    assert.equal((await find(id))?.userId, account?.user.id);
    const again = await follow(browser, await browser.get(at(`/users/sign-ups/${id}/reject`)));
    assert.equal(new URL(again.url).pathname, new URL(at("/users/sign-ups")).pathname);
  });

  test("rejected with a reason, which stands in no email; a wrong one is told", async () => {
    const id = await waiting();
    const question = await open(`/users/sign-ups/${id}/reject`);
    const wrong = await browser.post(question.url, { ...question.hidden, reason: "x".repeat(501) });
    assert.match(wrong.body, /at most 500 characters/);
    assert.equal((await find(id))?.state, "waiting");
    await browser.post(question.url, { ...wrong.hidden, reason: "Not a customer" });
    const decided = await find(id);
    assert.deepEqual([decided?.state, decided?.reason], ["rejected", "Not a customer"]);
    const mails = await mailsTo(running.service, `new-${id}@acme.example`);
    assert.deepEqual(
      mails.map(({ mail }) => mail.template),
      ["SignUpRejected"],
    );
    assert.ok(!JSON.stringify(mails).includes("customer"));
  });

  test("many at once", async () => {
    const ids = [await waiting("One"), await waiting("Two")];
    const list = await open("/users/sign-ups");
    const form = new URLSearchParams({ ...list.hidden, act: "approve" });
    for (const id of ids) form.append("selected", id);
    const question = await browser.post(at("/users/sign-ups/bulk"), form);
    assert.match(question.body, /Approve 2 sign-ups\?/);
    const confirmed = new URLSearchParams({ ...question.hidden });
    for (const id of ids) confirmed.append("selected", id);
    await browser.post(question.url, confirmed);
    for (const id of ids) assert.equal((await find(id))?.state, "approved");
  });

  test("settings: mode, terms and groups by their names; what is wrong is told at its field", async () => {
    const { id: orgId } = org.organisation;
    const content = { displayName: "Guests", description: null, externalId: null };
    const group = await createGroup(running.service, { orgId, actor: "test", content });
    const form = await open("/settings/sign-up");
    const typed = { mode: "open", url: "https://acme.example/terms", version: "1", groups: "guests" };
    for (const [more, text] of [
      [{ groups: "Nobody" }, /Choose groups of this organisation/],
      [{ version: "" }, /1 to 100 characters/],
      [{ url: "http://acme.example" }, /Enter an https address/],
      [{ mode: "closed" }, /Choose who may sign up/],
    ] as const) {
      const again = await browser.post(form.url, { ...form.hidden, ...typed, ...more });
      assert.equal(again.status, 400, JSON.stringify(more));
      assert.match(again.body, text);
    }
    const saved = await follow(browser, await browser.post(form.url, { ...form.hidden, ...typed }));
    assert.match(saved.body, /Sign-up and terms saved/);
    const record = await findOrganisation(running.service.database.query, orgId);
    assert.deepEqual(record?.settings.signUp, {
      mode: "open",
      terms: { version: "1", url: "https://acme.example/terms" },
      groups: [group.id],
    });
  });
});
