// A link to an address that nobody had proven ends what was set before, unless it is opened where the account is signed in.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { insertIdentity, listIdentities } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { findUserByEmail } from "../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { MAIL_ENV, newestLink } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { newSignInConnection } from "../../../testing/fixtures/sign-in-connection.ts";
import { follow, logIn, showsConsent, showsLogin, visit, withUser } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let base: TestOrganisation;
  let connectionId: string;
  before(async () => {
    running = await startTestService({
      databaseUrl: await fresh(),
      env: MAIL_ENV,
      passwords: quickPasswords,
    });
    base = await makeOrganisation(running.service);
    const { id: orgId } = base.organisation;
    await changeOrganisationSettings(running.service, {
      ...{ orgId, actor: "test", settings: { requireVerifiedEmail: true } },
    });
    connectionId = await newSignInConnection(running.service, orgId);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  let people = 0;
  /** Of somebody who has typed another one's address, and linked an identity. */
  async function unproven(): Promise<TestOrganisation> {
    const org = await withUser(running.service, base, `unproven-${people++}@acme.example`);
    const { query } = running.service.database;
    const { id: orgId } = org.organisation;
    await query
      .updateTable("user_account")
      .set({ email_verified_at: null })
      .where("org_id", "=", orgId)
      .where("id", "=", org.user.id)
      .execute();
    const identity = { orgId, connectionId, subject: org.user.id, userId: org.user.id };
    assert.ok(await insertIdentity(query, { ...identity, createdAt: 1, lastSignInAt: 1 }));
    return org;
  }
  /** By whoever knows the password. @returns the link that the owner of the address gets */
  async function requested(browser: TestBrowser, org: TestOrganisation): Promise<string> {
    const offer = await logIn(browser, org, await visit(browser, org));
    await browser.post(`${org.issuer}/verify-email`, offer.hidden);
    return newestLink(running.service, org.user.email);
  }
  const confirm = async (browser: TestBrowser, link: string) => {
    const page = await follow(browser, await browser.get(link));
    return follow(browser, await browser.post(page.url, page.hidden));
  };
  const identities = ({ organisation, user }: TestOrganisation) =>
    listIdentities(running.service.database.query, { orgId: organisation.id, userIds: [user.id] });
  const accountOf = ({ organisation, user }: TestOrganisation) =>
    findUserByEmail(running.service.database.query, organisation.id, user.email);

  test("the owner of the mailbox confirms in a browser of their own: password, sessions and identities of before end", async () => {
    const org = await unproven();
    const stranger = testBrowser();
    const link = await requested(stranger, org);
    const owner = testBrowser();
    const asked = await follow(owner, await owner.get(link));
    assert.match(asked.body, /id="verify-email-ends"/);
    const done = await confirm(owner, link);
    assert.match(done.body, /id="set-password"/);
    const account = await accountOf(org);
    assert.deepEqual([account?.user.emailVerified, account?.passwordHash], [true, null]);
    assert.deepEqual(await identities(org), []);
    assert.ok(showsLogin(await visit(stranger, org)), "the stranger's session has ended");
    assert.ok(showsLogin(await logIn(stranger, org, await visit(stranger, org))), "and the password");
  });

  test("confirmed where the account is signed in, everything stays", async () => {
    const org = await unproven();
    const browser = testBrowser();
    const link = await requested(browser, org);
    assert.doesNotMatch((await follow(browser, await browser.get(link))).body, /verify-email-ends/);
    const done = await confirm(browser, link);
    assert.doesNotMatch(done.body, /set-password/);
    assert.equal((await accountOf(org))?.user.emailVerified, true);
    assert.equal((await identities(org)).length, 1);
    const again = testBrowser();
    assert.ok(showsConsent(await logIn(again, org, await visit(again, org))));
  });

  test("the same by a program that has the link alone", async () => {
    const org = await unproven();
    const link = await requested(testBrowser(), org);
    const id = link.split("/").at(-1) ?? "";
    const url = `${running.baseUrl}/legacy/api/Authentication/Action/${id}/VerifyEmail`;
    const answer = await fetch(url, { headers: { accept: "application/json" } });
    assert.equal(answer.status, 200);
    const account = await accountOf(org);
    assert.deepEqual([account?.user.emailVerified, account?.passwordHash], [true, null]);
    assert.deepEqual(await identities(org), []);
  });
});
