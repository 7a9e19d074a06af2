import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import { trustBrowser } from "../../../core/second-factors/trusted-browsers/trusted-browsers.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { softPasskey } from "../../../testing/fakes/soft-passkey.ts";
import {
  appOfPage,
  giveAuthenticator,
  givePasskey,
  giveRecoveryCodes,
  ownerIn,
  passkeyOptions,
  recoveryCodesOf,
  showFactor,
  showsRecoveryCodes,
  showsTwoFactor,
} from "../../../testing/fixtures/factors.ts";
import {
  follow,
  logIn,
  sessionCookie,
  showsLogin,
  tokensOf,
  withUser,
} from "../../../testing/fixtures/visit.ts";
import { payloadOf } from "../../../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const MINUTE = 60_000;
const changes = ["authenticator", "authenticator/removal", "passkeys", "passkey", "recovery-codes"];

forEachDatabase(({ fresh }) => {
  let clock: FakeClock;
  let running: TestService;
  let home: TestOrganisation;
  let org: TestOrganisation;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    home = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(async () => {
    clock.advance(60 * MINUTE);
    org = await withUser(running.service, home, `user${++count}@acme.example`);
  });

  const url = (rest = "") => `${org.issuer}/account/security${rest === "" ? "" : `/${rest}`}`;
  const summary = (who = org) => findFactorSummary(running.service.database.query, ownerIn(who));
  const showsSecurity = ({ body }: TestPage) => body.includes('id="totp-title"');
  const open = async (browser: TestBrowser, rest = "") => follow(browser, await browser.get(url(rest)));
  const send = async (browser: TestBrowser, rest: string, form: Record<string, string>) =>
    follow(browser, await browser.post(url(rest), form));
  const actions = async () =>
    (await listAuditEvents(running.service.database.query, org.organisation.id, 30))
      .filter(({ target }) => target === org.user.id)
      .map(({ action }) => action);

  async function signedIn(): Promise<TestBrowser> {
    const browser = testBrowser();
    const page = await logIn(browser, org, await open(browser));
    assert.ok(showsSecurity(page));
    return browser;
  }
  async function signedInWithApp() {
    const app = await giveAuthenticator(running.service, org);
    const browser = testBrowser();
    const factor = await logIn(browser, org, await open(browser));
    assert.ok(showsSecurity(await showFactor(browser, org, factor, { code: app.code(clock()) })));
    return { browser, app };
  }
  const addPasskey = async (browser: TestBrowser, name = "Laptop") => {
    const passkey = softPasskey({ origin: running.service.config.baseUrl });
    const page = await open(browser, "passkeys");
    const answer = passkey.register(passkeyOptions(page));
    return {
      passkey,
      answer,
      page,
      after: await send(browser, "passkeys", { ...page.hidden, passkey: answer, name }),
    };
  };

  test("every page requires a session, and returns there after sign-in", async () => {
    for (const rest of ["", "browsers", ...changes]) {
      const page = await open(testBrowser(), rest);
      assert.ok(showsLogin(page), rest);
      assert.match(page.body, /to your account at Acme/);
      assert.ok(!page.body.includes(org.user.email));
    }
    const browser = testBrowser();
    const page = await logIn(browser, org, await open(browser, "authenticator"));
    assert.equal(page.url, url("authenticator"));
    assert.match(page.body, /<svg class="qr"/);
  });

  test("sets up an authenticator app with a valid code and steps up the session", async () => {
    const browser = await signedIn();
    const before = sessionCookie(browser, org);
    const page = await open(browser, "authenticator");
    const app = appOfPage(page);
    const wrong = await send(browser, "authenticator", { ...page.hidden, code: "000000" });
    assert.equal(wrong.status, 422);
    assert.equal(appOfPage(wrong).secret, app.secret);
    assert.equal((await summary()).hasTotp, false);
    const done = await send(browser, "authenticator", { ...wrong.hidden, code: app.code(clock()) });
    assert.ok(showsRecoveryCodes(done));
    assert.equal(recoveryCodesOf(done).length, 10);
    assert.deepEqual(await summary(), { hasTotp: true, passkeys: 0, recoveryCodes: 10 });
    assert.notDeepEqual(sessionCookie(browser, org), before);
    assert.equal(payloadOf((await tokensOf(browser, org)).idToken)["acr"], "urn:signet:acr:mfa");
    assert.deepEqual((await actions()).slice(0, 2), ["recovery-codes.made", "authenticator.added"]);
    assert.match((await open(browser)).body, /id="totp-remove"/);
  });

  test("the setup code can't be used again", async () => {
    const browser = await signedIn();
    const page = await open(browser, "authenticator");
    const code = appOfPage(page).code(clock());
    await send(browser, "authenticator", { ...page.hidden, code });
    const other = testBrowser();
    const factor = await logIn(other, org, await open(other));
    assert.equal((await showFactor(other, org, factor, { code })).status, 401);
  });

  test("a new authenticator app replaces the first, whose codes stop working", async () => {
    const { browser, app } = await signedInWithApp();
    await giveRecoveryCodes(running.service, org);
    const page = await open(browser, "authenticator");
    assert.match(page.body, /Your current app stops working/);
    const second = appOfPage(page);
    const done = await send(browser, "authenticator", { ...page.hidden, code: second.code(clock()) });
    assert.ok(showsSecurity(done), "existing recovery codes stay valid");
    clock.advance(MINUTE);
    const other = testBrowser();
    const factor = await logIn(other, org, await open(other));
    assert.equal((await showFactor(other, org, factor, { code: app.code(clock()) })).status, 401);
    assert.ok(showsSecurity(await showFactor(other, org, factor, { code: second.code(clock()) })));
  });

  test("rejects a setup secret issued to another user or browser", async () => {
    const mine = await signedIn();
    const page = await open(mine, "authenticator");
    const code = appOfPage(page).code(clock());
    org = await withUser(running.service, home, `mallory${count}@acme.example`);
    const theirs = await signedIn();
    const { csrf = "" } = (await open(theirs, "authenticator")).hidden;
    const refused = await send(theirs, "authenticator", { ...page.hidden, csrf, code });
    assert.equal(refused.status, 403);
    assert.equal((await summary()).hasTotp, false);
  });

  test("every change requires authentication within ten minutes, and returns there afterwards", async () => {
    const browser = await signedIn();
    const page = await open(browser, "authenticator");
    clock.advance(10 * MINUTE);
    assert.ok(showsSecurity(await open(browser)), "viewing needs no recent authentication");
    for (const rest of changes) assert.ok(showsLogin(await open(browser, rest)), rest);
    const code = appOfPage(page).code(clock());
    assert.match((await send(browser, "authenticator", { ...page.hidden, code })).body, /id="prove-sign-in"/);
    assert.equal((await summary()).hasTotp, false);
    const back = await logIn(browser, org, await open(browser, "authenticator"));
    assert.equal(back.url, url("authenticator"));
  });

  test("every change requires the second factor, also in a trusted browser", async () => {
    const { browser, app } = await signedInWithApp();
    clock.advance(MINUTE);
    // A session with the password only, as in a trusted browser.
    await running.service.database.query
      .updateTable("browser_session")
      .set({ acr: "urn:signet:acr:pwd", amr: '["pwd"]' })
      .where("user_id", "=", org.user.id)
      .execute();
    assert.ok(showsSecurity(await open(browser)));
    for (const rest of changes) assert.ok(showsTwoFactor(await open(browser, rest)), rest);
    const factor = await open(browser, "authenticator/removal");
    const page = await showFactor(browser, org, factor, { code: app.code(clock()) });
    assert.equal(page.url, url("authenticator/removal"));
    assert.ok(showsSecurity(await send(browser, "authenticator/removal", page.hidden)));
    assert.equal((await summary()).hasTotp, false);
  });

  test("rejects cross-origin forms and invalid CSRF tokens", async () => {
    const { browser } = await signedInWithApp();
    await giveRecoveryCodes(running.service, org);
    const passkey = await givePasskey(running.service, org);
    const setup = await open(browser, "authenticator");
    const added = softPasskey({ origin: running.service.config.baseUrl });
    const answer = added.register(passkeyOptions(await open(browser, "passkeys")));
    const forms: Record<string, Record<string, string>> = {
      authenticator: { enrolment: setup.hidden["enrolment"] ?? "", code: appOfPage(setup).code(clock()) },
      "authenticator/removal": {},
      passkeys: { passkey: answer, name: "x" },
      passkey: { id: passkey.id, change: "removal" },
      "recovery-codes": {},
      browsers: {},
    };
    assert.deepEqual(Object.keys(forms), [...changes, "browsers"]);
    const before = [await summary(), (await actions()).length];
    for (const [rest, form] of Object.entries(forms)) {
      const { csrf = "" } = setup.hidden;
      for (const [fields, headers] of [
        [form, {}],
        [{ ...form, csrf: "forged" }, {}],
        [{ ...form, csrf }, { "sec-fetch-site": "same-site" }],
        [{ ...form, csrf }, { "sec-fetch-site": "cross-site" }],
      ] as [Record<string, string>, Record<string, string>][]) {
        const page = await browser.post(url(rest), fields, headers);
        assert.equal(page.status, 403, rest);
        const isForeign = Object.keys(headers).length > 0;
        assert.match(page.body, isForeign ? /submitted from another site/ : /This page has expired/);
        assert.ok(!showsRecoveryCodes(page));
      }
    }
    assert.deepEqual([await summary(), (await actions()).length], before);
  });

  test("new recovery codes are shown once and replace the old ones", async () => {
    const { browser } = await signedInWithApp();
    const [old = ""] = await giveRecoveryCodes(running.service, org);
    const page = await open(browser, "recovery-codes");
    assert.doesNotMatch(page.body, /id="recovery-codes"/);
    const shown = await send(browser, "recovery-codes", page.hidden);
    assert.equal(shown.headers.get("cache-control"), "no-store");
    const [code = ""] = recoveryCodesOf(shown);
    const told = await actions();
    const again = await send(browser, "recovery-codes", page.hidden);
    assert.equal(again.status, 409, "a duplicate submission keeps the codes shown first");
    assert.doesNotMatch(again.body, /id="recovery-codes"/);
    assert.deepEqual(await actions(), told);
    const other = testBrowser();
    const factor = await logIn(other, org, await open(other));
    assert.equal((await showFactor(other, org, factor, { method: "recovery", code: old })).status, 401);
    assert.ok(showsSecurity(await showFactor(other, org, factor, { method: "recovery", code })));
    assert.match((await open(other)).body, /9 of 10 codes left/);
  });

  test("recovery codes are unavailable without a second factor", async () => {
    const browser = await signedIn();
    assert.ok(showsSecurity(await open(browser, "recovery-codes")));
    const { csrf = "" } = (await open(browser, "authenticator")).hidden;
    assert.ok(showsSecurity(await send(browser, "recovery-codes", { csrf })));
    assert.equal((await summary()).recoveryCodes, 0);
  });

  test("lists trusted browsers, marks the current one, and removes one or all", async () => {
    const app = await giveAuthenticator(running.service, org);
    const browsers: TestBrowser[] = [];
    for (const agent of ["Firefox/140.0 Windows", "Chrome/140 Mac OS X", "curl"]) {
      clock.advance(2 * MINUTE);
      const browser = testBrowser();
      const factor = await logIn(browser, org, await open(browser));
      const form = { ...factor.hidden, code: app.code(clock()), remember: "yes" };
      await browser.post(`${org.issuer}/twofactor`, form, { "user-agent": agent });
      browsers.push(browser);
    }
    const [, , last] = browsers;
    assert.ok(last);
    const list = (await open(last)).body;
    assert.match(list, /Firefox, Windows/);
    assert.match(list, /Chrome, macOS/);
    assert.match(list, /Unknown browser <span class="state good">This browser/);
    const firefox = /href="[^"]*\/browsers\?id=([\w-]+)" aria-label="Remove Firefox, Windows"/.exec(
      list,
    )?.[1];
    const page = await open(last, `browsers?id=${firefox}`);
    assert.match(page.body, /Remove Firefox, Windows from your trusted browsers\?/);
    const fewer = await send(last, "browsers", page.hidden);
    assert.doesNotMatch(fewer.body, /Firefox, Windows/);
    assert.match(fewer.body, /Chrome, macOS/);
    const all = await open(last, "browsers");
    assert.match((await send(last, "browsers", all.hidden)).body, /No trusted browsers/);
    assert.equal((await actions()).filter((action) => action === "remembered-device.revoked").length, 2);
  });

  test("the last second factor can't be removed where one is required", async () => {
    const { browser } = await signedInWithApp();
    await changeOrganisationSettings(running.service, {
      orgId: org.organisation.id,
      settings: { secondFactor: "required" },
      actor: "test",
    });
    try {
      const page = await open(browser, "authenticator/removal");
      const kept = await send(browser, "authenticator/removal", page.hidden);
      assert.equal(kept.status, 409);
      assert.match(kept.body, /You can’t remove your only second factor/);
      assert.equal((await summary()).hasTotp, true);
      const { passkey } = await addPasskey(browser);
      const again = await open(browser, "authenticator/removal");
      assert.ok(showsSecurity(await send(browser, "authenticator/removal", again.hidden)));
      const last = await open(browser, `passkey?id=${passkey.id}`);
      assert.equal((await send(browser, "passkey", { ...last.hidden, change: "removal" })).status, 409);
      assert.equal((await summary()).passkeys, 1);
    } finally {
      await changeOrganisationSettings(running.service, {
        orgId: org.organisation.id,
        settings: { secondFactor: "optional" },
        actor: "test",
      });
    }
  });

  test("guests change factors at home, and trusted browsers of this organisation here", async () => {
    const host = await makeOrganisation(running.service, `Host${count}`);
    await running.service.database.query
      .insertInto("membership")
      .values({
        org_id: host.organisation.id,
        user_id: org.user.id,
        home_org_id: org.organisation.id,
        role: "Standard",
        created_at: clock(),
      })
      .execute();
    const passkey = await givePasskey(running.service, org);
    const { query } = running.service.database;
    const account = { orgId: org.organisation.id, id: org.user.id };
    await trustBrowser(query, account, { address: "127.0.0.1", userAgent: "Firefox/1", now: clock() });
    org = { ...host, user: org.user };
    const browser = testBrowser();
    const page = await open(browser);
    const answer = passkey.answer(passkeyOptions(page));
    const { csrf = "", flow = "" } = page.hidden;
    const list = await follow(
      browser,
      await browser.post(`${host.issuer}/login`, { csrf, flow, passkey: answer }),
    );
    assert.match(list.body, /Another organisation manages your account/);
    assert.doesNotMatch(list.body, /id="totp-setup"|id="passkey-add"/);
    assert.match(list.body, /No trusted browsers/, "the home organisation's browsers are listed there");
    for (const rest of ["authenticator", "authenticator/removal", "passkeys", "recovery-codes"])
      assert.equal((await open(browser, rest)).url, url(), rest);
    assert.match((await open(browser, "browsers")).body, /Remove all trusted browsers\?/);
  });

  test("ignores unknown values of the query parameter done", async () => {
    const browser = await signedIn();
    assert.match((await browser.get(`${url()}?done=totpAdded`)).body, /Authenticator app set up/);
    for (const done of ["<script>", "__proto__", "toString", ""])
      assert.doesNotMatch(
        (await browser.get(`${url()}?done=${encodeURIComponent(done)}`)).body,
        /id="security-done"/,
      );
  });
});
