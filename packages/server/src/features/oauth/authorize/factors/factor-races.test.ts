// What happens between the question and the transaction that acts on its answer: the account is looked at again in it.
import assert from "node:assert/strict";
import { after, before, beforeEach, type TestContext, test } from "node:test";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { deleteTotp, findFactorSummary } from "../../../../core/second-factors/second-factors.store.ts";
import { lockUserAccount } from "../../../../core/users/account.store.ts";
import { setUserStatus } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { eventually } from "../../../../testing/eventually.ts";
import { testBrowser } from "../../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  appOfPage,
  giveAuthenticator,
  givePasskey,
  ownerIn,
  passkeyOptions,
  showFactor,
  showsEnrolment,
  showsRecoveryCodes,
  showsTwoFactor,
} from "../../../../testing/fixtures/factors.ts";
import {
  follow,
  logIn,
  sessionCookie,
  showsConsent,
  visit,
  withUser,
} from "../../../../testing/fixtures/visit.ts";
import { isStatementBlocked } from "../../../../testing/probes/blocked-statements.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

forEachDatabase(({ fresh, name }) => {
  let running: TestService;
  let home: TestOrganisation;
  let org: TestOrganisation;
  let count = 0;
  before(async () => {
    running = await startTestService({
      isMeddling: true,
      databaseUrl: await fresh(),
      passwords: quickPasswords,
    });
    home = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(async () => {
    org = await withUser(running.service, home, `user${++count}@acme.example`);
    running.errors.length = 0;
  });

  /** What another request does in the moment before the next transaction begins. */
  function justBefore(t: TestContext, work: () => Promise<unknown>): void {
    const { database } = running.service;
    const spy = t.mock.method(
      database,
      "transaction",
      async (act: Parameters<typeof database.transaction>[0]) => {
        spy.mock.restore();
        await work();
        return database.transaction(act);
      },
    );
  }
  const require = (secondFactor: "optional" | "required") =>
    changeOrganisationSettings(running.service, {
      orgId: org.organisation.id,
      settings: { secondFactor },
      actor: "test",
    });
  const withPassword = async () => {
    const browser = testBrowser();
    return { browser, page: await logIn(browser, org, await visit(browser, org)) };
  };
  const codeOf = (page: Parameters<typeof appOfPage>[0]) => appOfPage(page).code(running.service.clock());
  const summary = () => findFactorSummary(running.service.database.query, ownerIn(org));

  test("of many concurrent enrolments with the password, one succeeds and the others start no session", async (t) => {
    await require("required");
    t.after(() => require("optional"));
    const people = await Promise.all(Array.from({ length: 4 }, withPassword));
    assert.ok(people.every(({ page }) => showsEnrolment(page)));
    const pages = await Promise.all(
      people.map(({ browser, page }) => showFactor(browser, org, page, { code: codeOf(page) })),
    );
    assert.equal(pages.filter(showsRecoveryCodes).length, 1);
    assert.equal(pages.filter(({ status }) => status === 401).length, 3);
  });

  test("the password alone neither replaces nor adds to a factor that was enrolled first", async (t) => {
    await require("required");
    t.after(() => require("optional"));
    const thief = await withPassword();
    let app: Awaited<ReturnType<typeof giveAuthenticator>> | undefined;
    justBefore(t, async () => {
      app = await giveAuthenticator(running.service, org);
    });
    const refused = await showFactor(thief.browser, org, thief.page, { code: codeOf(thief.page) });
    assert.equal(refused.status, 401);
    const owner = await withPassword();
    const code = app?.code(running.service.clock()) ?? "";
    assert.ok(showsTwoFactor(owner.page));
    assert.ok(showsConsent(await showFactor(owner.browser, org, owner.page, { code })));
  });

  test("the account pages don't let the password alone replace an enrolled factor", async (t) => {
    const { browser } = await withPassword();
    const address = `${org.issuer}/account/security/authenticator`;
    const page = await browser.get(address);
    justBefore(t, () => givePasskey(running.service, org));
    const refused = await browser.post(address, { ...page.hidden, code: codeOf(page) });
    assert.equal(refused.status, 403);
    const { hasTotp, passkeys } = await summary();
    assert.deepEqual([hasTotp, passkeys], [false, 1]);
  });

  test("a code whose factor is removed during the check starts no session and causes no error", async () => {
    const app = await giveAuthenticator(running.service, org);
    const { browser, page } = await withPassword();
    const { database } = running.service;
    const owner = ownerIn(org);
    let shown: ReturnType<typeof showFactor> | undefined;
    await database.transaction(async (tx) => {
      await lockUserAccount(tx, { homeOrgId: owner.homeOrgId, id: owner.userId }, running.service.clock());
      shown = showFactor(browser, org, page, { code: app.code(running.service.clock()) });
      if (name === "postgres")
        await eventually("the sign-in waits for the account", () => isStatementBlocked(database.query));
      await deleteTotp(tx, owner);
    });
    const answer = await shown;
    assert.ok(answer && [401, 403].includes(answer.status), String(answer?.status));
    assert.deepEqual(running.errors, []);
  });

  test("a passkey starts no session if the account is disabled during the sign-in", async (t) => {
    const passkey = await givePasskey(running.service, org);
    const browser = testBrowser();
    const page = await visit(browser, org);
    const cookie = sessionCookie(browser, org);
    const set = (disabled: boolean) =>
      setUserStatus(running.service, {
        orgId: org.organisation.id,
        id: org.user.id,
        disabled,
        actor: "test",
      });
    justBefore(t, () => set(true));
    const { csrf = "", flow = "" } = page.hidden;
    const answer = passkey.answer(passkeyOptions(page));
    const refused = await follow(
      browser,
      await browser.post(`${org.issuer}/login`, { csrf, flow, passkey: answer }),
    );
    assert.equal(refused.status, 401);
    assert.deepEqual(sessionCookie(browser, org), cookie);
    await set(false);
    const rows = await running.service.database.query
      .selectFrom("browser_session")
      .select("id")
      .where("user_id", "=", org.user.id)
      .execute();
    assert.deepEqual(rows, []);
  });
});
