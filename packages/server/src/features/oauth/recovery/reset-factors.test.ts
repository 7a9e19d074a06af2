/** Second factors after a reset by email: an intruder's passkey ends with the old password, and the mailbox alone is one factor. */
import assert from "node:assert/strict";
import { after, before, beforeEach, type TestContext, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { resetFactors } from "../../../core/second-factors/changes.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import { sendPasswordReset } from "../../../core/users/account-mails.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo, newestLinkPage } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { type SoftPasskey, softPasskey } from "../../../testing/fakes/soft-passkey.ts";
import {
  giveAuthenticator,
  givePasskey,
  giveRecoveryCodes,
  ownerIn,
  passkeyOptions,
  showFactor,
  showsTwoFactor,
} from "../../../testing/fixtures/factors.ts";
import { callApi } from "../../../testing/fixtures/system-account.ts";
import {
  follow,
  logIn,
  showsConsent,
  showsLogin,
  signInAndConsent,
  visit,
  withUser,
} from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const DAY = 86_400_000;
const NEW_PASSWORD = "walnut orbit seventeen";
type Options = Parameters<SoftPasskey["answer"]>[0];

forEachDatabase(({ fresh }) => {
  let clock: FakeClock;
  let running: TestService;
  let home: TestOrganisation;
  let org: TestOrganisation;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    const env = {
      ...MAIL_ENV,
      SIGNET_RATE_LIMITS: "recovery-address=10000/60,second-factor-address=1000/60",
    };
    const databaseUrl = await fresh();
    running = await startTestService({
      isMeddling: true,
      databaseUrl,
      clock,
      passwords: quickPasswords,
      env,
    });
    home = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(async () => {
    clock.advance(3_600_000);
    org = await withUser(running.service, home, `owner-${count++}@acme.example`);
  });

  const db = () => running.service.database.query;
  const summary = () => findFactorSummary(db(), ownerIn(org));
  const keeps = (passkey: SoftPasskey) => ({ [`keep-${sha256Base64url(passkey.id)}`]: "yes" });
  async function askForLink(): Promise<string> {
    const browser = testBrowser();
    const form = await browser.get(`${org.issuer}/recovery`);
    await browser.post(`${org.issuer}/recovery`, { ...form.hidden, email: org.user.email });
    return newestLinkPage(running.service, org.user.email);
  }
  async function reset(choice: Readonly<Record<string, string>> = {}, link?: string): Promise<TestPage> {
    const browser = testBrowser();
    const uri = link ?? (await askForLink());
    const form = await browser.get(uri);
    return browser.post(uri, { ...form.hidden, password: NEW_PASSWORD, ...choice });
  }
  const byPassword = async (browser: TestBrowser = testBrowser()) =>
    logIn(browser, org, await visit(browser, org), { password: NEW_PASSWORD });
  async function byPasskey(passkey: SoftPasskey, browser: TestBrowser = testBrowser()): Promise<TestPage> {
    const page = await visit(browser, org);
    const { csrf = "", flow = "" } = page.hidden;
    const answer = passkey.answer(passkeyOptions<Options>(page));
    return follow(browser, await browser.post(`${org.issuer}/login`, { csrf, flow, passkey: answer }));
  }
  const notice = async () =>
    (await mailsTo(running.service, org.user.email)).findLast(
      ({ mail }) => mail.template === "PasswordChanged",
    )?.mail.data as { factors?: unknown } | undefined;
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

  test("a passkey that the owner doesn't keep ends with the reset, and one that is kept signs in", async () => {
    const [intruders, own] = [
      await givePasskey(running.service, org),
      await givePasskey(running.service, org),
    ];
    assert.ok(showsConsent(await byPasskey(intruders)), "it works before the reset");
    const link = await askForLink();
    const page = await testBrowser().get(link);
    assert.equal(page.body.match(/<input id="keep-[^>]*type="checkbox"/g)?.length, 2);
    assert.doesNotMatch(page.body, / checked/);
    assert.equal((await reset(keeps(own), link)).status, 303);
    assert.ok(showsLogin(await byPasskey(intruders)));
    assert.ok(showsConsent(await byPasskey(own)));
    assert.deepEqual((await notice())?.factors, {
      ...{ passkeysKept: 1, passkeysRemoved: 1, recoveryCodesRemoved: false },
    });
  });

  test("without a choice every passkey ends, with recovery codes that came with it", async () => {
    const passkey = await givePasskey(running.service, org);
    await giveRecoveryCodes(running.service, org);
    assert.equal((await reset()).status, 303);
    assert.ok(showsLogin(await byPasskey(passkey)));
    assert.deepEqual(await summary(), { hasTotp: false, passkeys: 0, recoveryCodes: 0 });
    assert.ok(showsConsent(await byPassword()));
    assert.deepEqual((await notice())?.factors, {
      ...{ passkeysKept: 0, passkeysRemoved: 1, recoveryCodesRemoved: true },
    });
  });

  test("every reset ends passkeys: by API, and with a link that an administrator sent", async () => {
    const passkeys: SoftPasskey[] = [];
    const call = async (link: string) => {
      const id = link.split("/").find((part) => part.startsWith("sgn_ua_"));
      const uri = `${running.baseUrl}/legacy/api/Authentication/Action/${id}/ResetPassword`;
      return callApi(uri, undefined, { body: { NewPassword: NEW_PASSWORD } });
    };
    for (const send of [
      askForLink,
      async () => {
        const user = await findUser(db(), org.organisation.id, org.user.id);
        assert.ok(user);
        const { baseUrl } = running.service.config;
        await sendPasswordReset({ ...running.service, baseUrl }, user, { actor: "test" });
        return newestLinkPage(running.service, org.user.email);
      },
    ]) {
      const passkey = await givePasskey(running.service, org);
      const app = await giveAuthenticator(running.service, org);
      passkeys.push(passkey);
      assert.equal((await call(await send())).status, 200);
      for (const ended of passkeys) assert.ok(showsLogin(await byPasskey(ended)));
      const browser = testBrowser();
      const asked = await byPassword(browser);
      assert.ok(showsTwoFactor(asked), "the app signs nobody in alone: it stays");
      assert.ok(showsConsent(await showFactor(browser, org, asked, { code: app.code(clock()) })));
      clock.advance(60_000);
    }
  });

  test("the mailbox alone doesn't replace a passkey that isn't new: a recovery code stays required", async () => {
    const passkey = await givePasskey(running.service, org);
    const [code = ""] = await giveRecoveryCodes(running.service, org);
    clock.advance(15 * DAY);
    assert.equal((await reset()).status, 303);
    assert.ok(showsLogin(await byPasskey(passkey)));
    const browser = testBrowser();
    const asked = await byPassword(browser);
    assert.ok(showsTwoFactor(asked));
    assert.ok(showsLogin(await visit(browser, org)), "nobody is signed in yet");
    const wrong = await showFactor(browser, org, asked, { code: "aaaa-aaaa-aaaa-aaaa", method: "recovery" });
    assert.ok(showsTwoFactor(wrong));
    assert.ok(showsConsent(await showFactor(browser, org, wrong, { code, method: "recovery" })));
  });

  test("a passkey that isn't new and has no recovery codes left is no way around a second factor", async () => {
    const passkey = await givePasskey(running.service, org);
    clock.advance(15 * DAY);
    assert.equal((await reset()).status, 303);
    assert.ok(showsLogin(await byPasskey(passkey)));
    assert.ok(showsTwoFactor(await byPassword()));
    assert.equal((await reset()).status, 303);
    assert.ok(showsTwoFactor(await byPassword()), "nor does another reset help");
    const organisation = home.organisation;
    const user = await findUser(db(), organisation.id, org.user.id);
    assert.ok(user);
    await resetFactors(running.service, { organisation, user, actor: "test" });
    assert.ok(showsConsent(await byPassword()), "an administrator does");
  });

  test("nor do two resets, the second of which removes a newer authenticator app", async () => {
    const removal = { authenticator: "remove" };
    for (const hasCodes of [true, false]) {
      org = await withUser(running.service, home, `two-resets-${hasCodes}@acme.example`);
      const passkey = await givePasskey(running.service, org);
      clock.advance(15 * DAY);
      // Made anew lately: their age says less than the passkey's.
      if (hasCodes) await giveRecoveryCodes(running.service, org);
      await giveAuthenticator(running.service, org);
      const page = await testBrowser().get(await askForLink());
      assert.match(page.body, /id="authenticator-stays"/);
      for (let time = 0; time < 2; time++) {
        assert.equal((await reset(removal)).status, 303);
        assert.ok(showsLogin(await byPasskey(passkey)));
        assert.ok(showsTwoFactor(await byPassword()));
        assert.ok((await summary()).hasTotp);
      }
    }
  });

  test("a new authenticator app can be removed, an older one can't", async () => {
    const removal = { authenticator: "remove" };
    await giveAuthenticator(running.service, org);
    await giveRecoveryCodes(running.service, org);
    const asked = await testBrowser().get(await askForLink());
    const choices = asked.body.match(/<input id="(keep|remove)-authenticator"[^>]*>/g) ?? [];
    assert.equal(choices.length, 2);
    // The owner must choose: browsers send nothing before, and nothing is chosen for them.
    for (const choice of choices)
      assert.match(choice, / name="authenticator" type="radio" value="\w+" required>$/);
    assert.equal((await reset(removal)).status, 303);
    assert.ok(showsConsent(await byPassword()));
    assert.deepEqual(await summary(), { hasTotp: false, passkeys: 0, recoveryCodes: 0 });

    await giveAuthenticator(running.service, org);
    clock.advance(15 * DAY);
    const link = await askForLink();
    const page = await testBrowser().get(link);
    assert.match(page.body, /id="authenticator-stays"/);
    assert.doesNotMatch(page.body, /new-authenticator/);
    assert.equal((await reset(removal, link)).status, 303);
    assert.ok(showsTwoFactor(await byPassword()));
  });

  test("an authenticator app stays when its owner keeps it, and when nothing is chosen", async () => {
    await giveAuthenticator(running.service, org);
    for (const choice of [{ authenticator: "keep" }, {}, { authenticator: "" }, { authenticator: "yes" }]) {
      assert.equal((await reset(choice)).status, 303);
      assert.ok(showsTwoFactor(await byPassword()));
    }
  });

  test("a refused password keeps what was chosen for the authenticator app", async () => {
    await giveAuthenticator(running.service, org);
    const [browser, link] = [testBrowser(), await askForLink()];
    const { hidden } = await browser.get(link);
    const again = await browser.post(link, { ...hidden, authenticator: "remove", password: "short" });
    assert.equal(again.status, 422);
    assert.match(again.body, /<input id="remove-authenticator"[^>]* checked>/);
    assert.doesNotMatch(again.body, /<input id="keep-authenticator"[^>]* checked/);
  });

  test("a refused password changes no factor and keeps what was ticked", async () => {
    const [own, other] = [await givePasskey(running.service, org), await givePasskey(running.service, org)];
    const link = await askForLink();
    const browser = testBrowser();
    const form = await browser.get(link);
    const again = await browser.post(link, { ...form.hidden, ...keeps(own), password: "short" });
    assert.equal(again.status, 422);
    assert.deepEqual(
      [...again.body.matchAll(/name="(keep-[^"]+)"[^>]* checked/g)].map(([, name]) => name),
      Object.keys(keeps(own)),
    );
    assert.equal((await summary()).passkeys, 2);
    assert.ok(showsConsent(await byPasskey(other)));
  });

  test("a passkey that was added after the page was shown ends too", async () => {
    const own = await givePasskey(running.service, org);
    const link = await askForLink();
    const browser = testBrowser();
    const form = await browser.get(link);
    const late = await givePasskey(running.service, org);
    const sent = { ...form.hidden, ...keeps(own), password: NEW_PASSWORD };
    assert.equal((await browser.post(link, sent)).status, 303);
    assert.ok(showsLogin(await byPasskey(late)));
    assert.ok(showsConsent(await byPasskey(own)));
  });

  test("a reset during a sign-in with the passkey ends it, on either side of the reset", async (t) => {
    const passkey = await givePasskey(running.service, org);
    const intruder = testBrowser();
    await byPasskey(passkey, intruder);
    const link = await askForLink();
    const browser = testBrowser();
    const page = await visit(browser, org);
    const { csrf = "", flow = "" } = page.hidden;
    const answer = passkey.answer(passkeyOptions<Options>(page));
    justBefore(t, () => reset({}, link));
    const late = await browser.post(`${org.issuer}/login`, { csrf, flow, passkey: answer });
    assert.ok(showsLogin(await follow(browser, late)));
    assert.ok(showsLogin(await visit(browser, org)));
    assert.ok(showsLogin(await visit(intruder, org)), "the session from before ended");
  });

  test("a passkey that is being added during a reset isn't there afterwards", async (t) => {
    const intruder = testBrowser();
    await signInAndConsent(intruder, org);
    const link = await askForLink();
    const form = await intruder.get(`${org.issuer}/account/security/passkeys`);
    const passkey = softPasskey({ origin: new URL(running.baseUrl).origin });
    const registered = passkey.register(passkeyOptions(form));
    justBefore(t, () => reset({}, link));
    const url = `${org.issuer}/account/security/passkeys`;
    const added = await intruder.post(url, { ...form.hidden, passkey: registered, name: "Late" });
    assert.notEqual(added.status, 500);
    assert.equal((await summary()).passkeys, 0);
    assert.ok(showsLogin(await byPasskey(passkey)));
  });

  test("of two clicks one resets, and its choice holds", async () => {
    const [own, intruders] = [
      await givePasskey(running.service, org),
      await givePasskey(running.service, org),
    ];
    const link = await askForLink();
    const browser = testBrowser();
    const form = await browser.get(link);
    const sent = { ...form.hidden, ...keeps(own), password: NEW_PASSWORD };
    const both = await Promise.all([browser.post(link, sent), browser.post(link, sent)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [303, 404]);
    assert.ok(showsLogin(await byPasskey(intruders)));
    assert.ok(showsConsent(await byPasskey(own)));
  });
});
