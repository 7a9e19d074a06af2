import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import { removeExpired } from "../../../../core/housekeeping/housekeeping.ts";
import { forgetTrustedBrowsers } from "../../../../core/second-factors/changes.ts";
import { listTrustedBrowsers } from "../../../../core/second-factors/trusted-browsers/trusted-browsers.store.ts";
import { acrValues } from "../../../../core/sessions/session.ts";
import { findUser } from "../../../../core/users/users.store.ts";
import { setPassword } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  type AuthenticatorApp,
  giveAuthenticator,
  showFactor,
  showsTwoFactor,
} from "../../../../testing/fixtures/factors.ts";
import {
  follow,
  logIn,
  showsConsent,
  tokensOf,
  visit,
  withUser,
} from "../../../../testing/fixtures/visit.ts";
import { payloadOf } from "../../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const DAY = 86_400_000;

forEachDatabase(({ fresh }) => {
  let clock: FakeClock;
  let running: TestService;
  let home: TestOrganisation;
  let org: TestOrganisation;
  let app: AuthenticatorApp;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    home = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(async () => {
    clock.advance(DAY);
    org = await withUser(running.service, home, `user${++count}@acme.example`);
    app = await giveAuthenticator(running.service, org);
  });

  const account = async (who = org) => {
    const user = await findUser(running.service.database.query, who.organisation.id, who.user.id);
    assert.ok(user);
    return user;
  };
  const password = async (browser: TestBrowser, who = org) => logIn(browser, who, await visit(browser, who));
  /** Without the session's cookie: the browser was closed, or a day has passed. */
  const nextDay = ({ cookies }: TestBrowser): TestBrowser => {
    const browser = testBrowser();
    for (const [name, value] of cookies) if (name.includes("device")) browser.cookies.set(name, value);
    return browser;
  };
  async function rememberedBrowser(remember = "yes"): Promise<TestBrowser> {
    const browser = testBrowser();
    const page = await password(browser);
    assert.match(page.body, /<input id="remember" name="remember" type="checkbox" value="yes"/);
    const code = app.code(clock());
    assert.ok(
      showsConsent(await showFactor(browser, org, page, { code, ...(remember ? { remember } : {}) })),
    );
    return nextDay(browser);
  }

  test("only a trusted browser gets the cookie, and it is audited", async () => {
    const remembered = async () =>
      (await listAuditEvents(running.service.database.query, org.organisation.id, 50))
        .filter(({ action, target }) => action === "remembered-device.added" && target === org.user.id)
        .map(({ actor, address }) => [actor, address]);
    assert.equal((await rememberedBrowser("")).cookies.size, 0);
    assert.deepEqual(await remembered(), []);
    clock.advance(60_000);
    await rememberedBrowser();
    assert.deepEqual(await remembered(), [[`user:${org.user.id}`, "127.0.0.1"]]);
  });

  test("a trusted browser skips the second factor for thirty days, and the token's acr is that of the password", async () => {
    const browser = await rememberedBrowser();
    clock.advance(29 * DAY);
    assert.ok(showsConsent(await password(browser)));
    const { acr, amr } = payloadOf((await tokensOf(browser, org)).idToken);
    assert.equal(acr, acrValues.password);
    assert.deepEqual(amr, ["pwd"]);
    clock.advance(DAY);
    assert.ok(showsTwoFactor(await password(nextDay(browser))));
  });

  test("the trusted browser's cookie is HttpOnly, lasts thirty days and is stored as a hash", async () => {
    const browser = testBrowser();
    const page = await password(browser);
    const answer = await browser.post(`${org.issuer}/twofactor`, {
      ...page.hidden,
      code: app.code(clock()),
      remember: "yes",
    });
    const line = answer.headers.getSetCookie().find((one) => one.includes("device")) ?? "";
    assert.match(
      line,
      /^signet-device-[0-9a-f-]{36}=sgn_rd_[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const rows = await running.service.database.query.selectFrom("remembered_device").selectAll().execute();
    const [, token = ""] = /=(sgn_rd_[^;]+)/.exec(line) ?? [];
    assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(token));
  });

  test("a browser is trusted for one user only", async () => {
    const browser = await rememberedBrowser();
    const otto = await withUser(running.service, home, `otto${count}@acme.example`);
    await giveAuthenticator(running.service, otto);
    assert.ok(showsTwoFactor(await password(browser, otto)));
  });

  test("a browser is trusted at one organisation only", async () => {
    const browser = await rememberedBrowser();
    const other = await makeOrganisation(running.service, `Other${count}`);
    await giveAuthenticator(running.service, other);
    for (const [name, value] of browser.cookies)
      browser.cookies.set(name.replace(org.organisation.id, other.organisation.id), value);
    assert.ok(showsTwoFactor(await password(browser, other)));
  });

  test("a revoked browser asks for the second factor again", async () => {
    const browser = await rememberedBrowser();
    const user = await account();
    const { organisation } = org;
    assert.equal(await forgetTrustedBrowsers(running.service, { organisation, user, actor: "test" }), 1);
    assert.ok(showsTwoFactor(await password(browser)));
    assert.deepEqual(await listTrustedBrowsers(running.service.database.query, user, clock()), []);
  });

  test("a password change revokes trusted browsers", async () => {
    const browser = await rememberedBrowser();
    clock.advance(1);
    const { organisation, user } = org;
    await setPassword(running.service, {
      organisation,
      id: user.id,
      password: "another tractor ninety",
      about: [],
      actor: "test",
    });
    const page = await logIn(browser, org, await visit(browser, org), { password: "another tractor ninety" });
    assert.ok(showsTwoFactor(page));
    const living = await listTrustedBrowsers(running.service.database.query, await account(), clock());
    assert.deepEqual(living, []);
  });

  test("a trusted browser doesn't satisfy a required acr", async () => {
    const browser = await rememberedBrowser();
    const strict = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      requiredAcr: acrValues.multiFactor,
    });
    const claims = JSON.stringify({ id_token: { acr: { essential: true, value: acrValues.multiFactor } } });
    for (const asked of [
      { clientId: strict.application.id },
      { more: { claims } },
      // A wish asks who has one: that is what it is for (RFC 9470).
      { more: { acr_values: acrValues.multiFactor } },
    ]) {
      const next = nextDay(browser);
      const page = await logIn(next, org, await visit(next, org, asked));
      assert.ok(showsTwoFactor(page), JSON.stringify(asked));
    }
  });

  test("expired trusted browsers are deleted, active ones stay", async () => {
    await rememberedBrowser();
    const ids = async () => {
      const rows = await running.service.database.query
        .selectFrom("remembered_device")
        .select("user_id")
        .execute();
      return rows.filter(({ user_id }) => user_id === org.user.id).length;
    };
    clock.advance(30 * DAY);
    await removeExpired(running.service);
    assert.equal(await ids(), 1);
    clock.advance(1);
    await removeExpired(running.service);
    assert.equal(await ids(), 0);
  });

  test("a trusted browser doesn't skip the second factor for the account pages", async () => {
    const browser = await rememberedBrowser();
    const page = await follow(browser, await browser.get(`${org.issuer}/account/security`));
    assert.ok(showsTwoFactor(await logIn(browser, org, page)));
  });

  test("a trusted browser skips the second factor that the organisation requires", async () => {
    const { organisation } = org;
    const browser = await rememberedBrowser();
    await running.service.database.query
      .updateTable("organisation")
      .set({ settings: JSON.stringify({ ...organisation.settings, secondFactor: "required" }) })
      .where("id", "=", organisation.id)
      .execute();
    clock.advance(60_000);
    assert.ok(showsConsent(await password(browser)));
  });
});
