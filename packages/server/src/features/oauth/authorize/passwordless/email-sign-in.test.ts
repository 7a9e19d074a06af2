// Signing in by an emailed code or link, on a sign-in page that asks for the address first: the same for every address.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import {
  findIdentity,
  insertIdentity,
} from "../../../../core/connections/sign-in/linked-identities.store.ts";
import type { OrganisationSettings } from "../../../../core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { acrValues } from "../../../../core/sessions/session.ts";
import { findUserByEmail } from "../../../../core/users/users.store.ts";
import { createUser } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { startHostileProvider } from "../../../../testing/fakes/hostile-provider.ts";
import { MAIL_ENV, mailsTo, newestLink } from "../../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { giveAuthenticator, showFactor, showsTwoFactor } from "../../../../testing/fixtures/factors.ts";
import { connectTo } from "../../../../testing/fixtures/upstream-sign-in.ts";
import {
  follow,
  logIn,
  showsConsent,
  showsLogin,
  tokensOf,
  visit,
} from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const ALL = ["password", "passkey", "emailCode", "magicLink"] as const;
const NOBODY = "nobody@acme.example";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      ...{ databaseUrl: await fresh(), clock, passwords: quickPasswords },
      env: { ...MAIL_ENV, SIGNET_OUTBOUND_ALLOW: "127.0.0.1" },
    });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });
  beforeEach(async () => {
    clock.advance(3_600_000);
    await offer({ signInMethods: ALL });
  });

  const offer = (settings: Partial<OrganisationSettings>) =>
    changeOrganisationSettings(running.service, { orgId: org.organisation.id, settings, actor: "test" });
  const make = async (more = {}): Promise<TestOrganisation> => {
    const email = `user-${++count}@acme.example`;
    const id = await createUser(running.service, {
      ...{ organisation: org.organisation, email, password: PASSWORD, firstname: "Uma", surname: "Berg" },
      ...{ role: "Standard", emailVerified: true, actor: "test", ...more },
    });
    return { ...org, user: { id, email, password: PASSWORD } };
  };
  const post = async (browser: TestBrowser, page: TestPage, path: string, form: Record<string, string>) =>
    follow(browser, await browser.post(`${org.issuer}/${path}`, { ...page.hidden, ...form }));
  /** The second page, for an address. */
  const identify = async (browser: TestBrowser, email: string, asked = {}) =>
    post(browser, await visit(browser, org, asked), "login", { email });
  const ask = async (browser: TestBrowser, email: string, act = "send") =>
    post(browser, await identify(browser, email), "email-code", { email, act });
  const type = (browser: TestBrowser, page: TestPage, code: string) =>
    post(browser, page, "email-code", { "email-code": code });
  const codesTo = async (email: string): Promise<string[]> =>
    (await mailsTo(running.service, email)).flatMap(({ mail }) =>
      mail.template === "EmailCode" ? [mail.data.code] : [],
    );
  const newestCode = async (email: string) => (await codesTo(email)).at(-1) ?? "";
  const other = (code: string) => (code === "000000" ? "000001" : "000000");
  const ids = ({ body }: TestPage, ...known: string[]) =>
    known
      .map((id) => [id, body.indexOf(` id="${id}"`)] as const)
      .filter(([, at]) => at >= 0)
      .sort(([, a], [, b]) => a - b)
      .map(([id]) => id);
  const WAYS = ["password", "login-submit", "passkey-submit", "email-code-send", "magic-link-send"];
  /** Without what differs by browser, and the mark that is made of the address. */
  const comparable = ({ status, body }: TestPage, email: string): string =>
    `${status} ${body}`
      .replaceAll(email, "EMAIL")
      .replaceAll(
        /flow(?:=|%3D)[\w.-]+|nonce="[^"]*"|name="(?:csrf|flow)" value="[^"]*"|data-options="[^"]*"/g,
        "",
      )
      .replaceAll(/<span class="mark round[^\n]*/g, "");

  test("the page asks for the address alone; the second one has what is offered, in its order", async () => {
    const browser = testBrowser();
    const first = await visit(browser, org);
    assert.deepEqual(ids(first, "email", ...WAYS), ["email", "login-submit", "passkey-submit"]);
    const second = await post(browser, first, "login", { email: "somebody@acme.example" });
    assert.deepEqual(ids(second, ...WAYS), WAYS);
    await offer({ signInMethods: ["magicLink", "password"] });
    const turned = await identify(testBrowser(), "somebody@acme.example");
    assert.deepEqual(ids(turned, ...WAYS), ["magic-link-send", "password", "login-submit"]);
    const bad = await post(browser, first, "login", { email: "nobody" });
    assert.equal(bad.status, 422);
    assert.deepEqual(ids(bad, "email", "password"), ["email"]);
  });

  test("a password signs in on the second page; a wrong one is told there", async () => {
    const own = await make();
    const browser = testBrowser();
    const second = await identify(browser, own.user.email);
    const wrong = await logIn(browser, own, second, { password: "wrong" });
    assert.equal(wrong.status, 401);
    assert.deepEqual(ids(wrong, ...WAYS), WAYS);
    assert.match(wrong.body, /Incorrect email or password/);
    assert.ok(showsConsent(await logIn(browser, own, wrong)));
  });

  test("known and unknown: the same pages; only a known one gets the email", async () => {
    const own = await make();
    const pages: string[] = [];
    for (const email of [own.user.email, NOBODY]) {
      const browser = testBrowser();
      const second = await identify(browser, email);
      const sent = await post(browser, second, "email-code", { email, act: "send" });
      const wrong = await type(browser, sent, other(await newestCode(email)));
      const link = await ask(testBrowser(), email, "send-link");
      pages.push([second, sent, wrong, link].map((page) => comparable(page, email)).join("\n"));
    }
    assert.ok(pages[0] === pages[1], "known and unknown differ");
    assert.equal((await mailsTo(running.service, NOBODY)).length, 0);
    assert.equal((await mailsTo(running.service, own.user.email)).length, 2);
  });

  test("a code signs in, once, with amr email; the address is proven by it", async () => {
    const own = await make();
    const browser = testBrowser();
    const sent = await ask(browser, own.user.email);
    assert.match(sent.body, /autocomplete="one-time-code"/);
    const code = await newestCode(own.user.email);
    assert.match(code, /^\d{6}$/);
    assert.ok(showsConsent(await type(browser, sent, `${code.slice(0, 3)} ${code.slice(3)}`)));
    const { claims } = await tokensOf(browser, own);
    const { amr, acr } = claims as unknown as { amr: string[]; acr: string };
    assert.deepEqual([amr, acr], [["email"], acrValues.password]);
    const late = testBrowser();
    const again = await ask(late, own.user.email);
    assert.equal((await type(late, again, code)).status, 401);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 30);
    const of = (action: string) => events.find((event) => event.action === action);
    assert.equal(of("email-code.sent")?.target, own.user.id);
    assert.ok(of("email-code.failed"));
  });

  test("a code belongs to the browser that asked for it; a new one voids the old; ten minutes", async () => {
    const own = await make();
    const [browser, stranger] = [testBrowser(), testBrowser()];
    const sent = await ask(browser, own.user.email);
    const first = await newestCode(own.user.email);
    const elsewhere = await ask(stranger, NOBODY);
    assert.equal((await type(stranger, elsewhere, first)).status, 401);
    const resent = await post(browser, sent, "email-code", { act: "resend" });
    const second = await newestCode(own.user.email);
    assert.equal((await codesTo(own.user.email)).length, 2);
    if (first !== second) assert.equal((await type(browser, resent, first)).status, 401);
    clock.advance(10 * 60_000);
    assert.equal((await type(browser, resent, second)).status, 401);
  });

  test("five tries in all, also in parallel", async () => {
    const own = await make();
    const browser = testBrowser();
    const sent = await ask(browser, own.user.email);
    const code = await newestCode(own.user.email);
    const guess = () =>
      browser.post(`${org.issuer}/email-code`, { ...sent.hidden, "email-code": other(code) });
    const guesses = await Promise.all(Array.from({ length: 12 }, guess));
    assert.deepEqual([...new Set(guesses.map(({ status }) => status))], [401]);
    assert.equal((await type(browser, sent, code)).status, 401);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 60);
    const failed = events.filter(({ action, at }) => action === "email-code.failed" && at === clock());
    assert.equal(failed.length, 5);
  });

  test("a right code in parallel signs in once", async () => {
    const own = await make();
    const browser = testBrowser();
    const sent = await ask(browser, own.user.email);
    const form = { ...sent.hidden, "email-code": await newestCode(own.user.email) };
    const posts = Array.from({ length: 5 }, () => browser.post(`${org.issuer}/email-code`, form));
    await Promise.all(posts);
    const sessions = await running.service.database.query
      .selectFrom("browser_session")
      .select("id")
      .where("org_id", "=", org.organisation.id)
      .where("user_id", "=", own.user.id)
      .execute();
    assert.equal(sessions.length, 1);
  });

  test("five emails an hour to an address, known or not", async () => {
    for (const email of [(await make()).user.email, "other-nobody@acme.example"]) {
      const statuses: number[] = [];
      for (let sent = 0; sent < 6; sent++) statuses.push((await ask(testBrowser(), email)).status);
      assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
    }
  });

  test("a second factor follows the code, as it follows a password", async () => {
    const own = await make();
    const app = await giveAuthenticator(running.service, own);
    const browser = testBrowser();
    const asked = await type(browser, await ask(browser, own.user.email), await newestCode(own.user.email));
    assert.ok(showsTwoFactor(asked));
    assert.ok(showsConsent(await showFactor(browser, own, asked, { code: app.code(clock()) })));
    const { claims } = await tokensOf(browser, own);
    assert.deepEqual((claims as unknown as { amr: string[] }).amr, ["email", "otp", "mfa"]);
  });

  test("prompt=login and max_age take a new code for a new sign-in", async () => {
    const own = await make();
    const browser = testBrowser();
    await type(browser, await ask(browser, own.user.email), await newestCode(own.user.email));
    clock.advance(60_000);
    const again = await visit(browser, org, { more: { prompt: "login" } });
    assert.ok(showsLogin(again));
    const second = await post(browser, again, "login", { email: own.user.email });
    const sent = await post(browser, second, "email-code", { email: own.user.email, act: "send" });
    assert.ok(showsConsent(await type(browser, sent, await newestCode(own.user.email))));
  });

  test("a link signs in where it was asked for: GET does nothing, the button does", async () => {
    const own = await make();
    const browser = testBrowser();
    const waiting = await ask(browser, own.user.email, "send-link");
    assert.match(waiting.body, /id="email-code"/);
    const link = await newestLink(running.service, own.user.email);
    for (let look = 0; look < 3; look++)
      assert.match((await browser.get(link)).body, /id="magic-link-continue"/);
    const page = await browser.get(link);
    assert.equal((await browser.post(link, { csrf: "" })).status, 403);
    const posts = [browser.post(link, page.hidden), browser.post(link, page.hidden)];
    const statuses = (await Promise.all(posts)).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [303, 404]);
    assert.ok(showsConsent(await visit(browser, org)));
    assert.equal((await browser.get(link)).status, 404);
  });

  test("in another browser a link shows the code, signs nobody in, and the code works in the first", async () => {
    const own = await make();
    const [browser, mailClient] = [testBrowser(), testBrowser()];
    const waiting = await ask(browser, own.user.email, "send-link");
    const link = await newestLink(running.service, own.user.email);
    const shown = await mailClient.get(link);
    assert.doesNotMatch(shown.body, /magic-link-continue/);
    const [, code = ""] = /id="magic-link-code">(\d{6})</.exec(shown.body) ?? [];
    const csrf = (await visit(mailClient, org)).hidden["csrf"] ?? "";
    const pressed = await mailClient.post(link, { csrf });
    assert.match(pressed.body, /id="magic-link-code"/);
    assert.ok(showsLogin(await visit(mailClient, org)));
    assert.ok(showsConsent(await type(browser, waiting, code)));
    assert.equal((await mailClient.get(link)).status, 404);
  });

  test("a link of one organisation opens nothing in another, and ends with its ten minutes", async () => {
    const own = await make();
    await ask(testBrowser(), own.user.email, "send-link");
    const link = await newestLink(running.service, own.user.email);
    const foreign = await makeOrganisation(running.service);
    const there = link.replace(org.organisation.id, foreign.organisation.id);
    assert.equal((await testBrowser().get(there)).status, 404);
    clock.advance(10 * 60_000);
    assert.equal((await testBrowser().get(link)).status, 404);
  });

  test("without password, passwords are closed: sign-in, recovery, its links", async () => {
    const own = await make();
    const browser = testBrowser();
    const second = await identify(browser, own.user.email);
    await offer({ signInMethods: ["passkey", "emailCode"] });
    assert.equal((await logIn(browser, own, second)).status, 401);
    const page = await browser.get(`${org.issuer}/recovery`);
    assert.doesNotMatch(page.body, /recovery-submit/);
    const sent = await browser.post(`${org.issuer}/recovery`, { ...second.hidden, email: own.user.email });
    assert.doesNotMatch(sent.body, /recovery-sent/);
    assert.equal((await mailsTo(running.service, own.user.email)).length, 0);
    assert.ok(
      showsConsent(await type(browser, await ask(browser, own.user.email), await newestCode(own.user.email))),
    );
  });

  test("a method that is closed meanwhile sends nothing and takes nothing", async () => {
    const own = await make();
    const browser = testBrowser();
    const sent = await ask(browser, own.user.email);
    const linked = testBrowser();
    await ask(linked, own.user.email, "send-link");
    const link = await newestLink(running.service, own.user.email);
    const code = await newestCode(own.user.email);
    await offer({ signInMethods: ["password"] });
    assert.ok(showsLogin(await type(browser, sent, code)));
    assert.equal((await linked.get(link)).status, 404);
    const asked = await post(browser, sent, "email-code", { act: "send", email: own.user.email });
    assert.ok(showsLogin(asked));
    assert.equal((await codesTo(own.user.email)).length, 1);
  });

  test("who proves an address that nobody had proven gets the account without the password that somebody had set", async () => {
    const own = await make({ emailVerified: false });
    const intruder = testBrowser();
    assert.ok(showsConsent(await logIn(intruder, own, await visit(intruder, org))));
    const browser = testBrowser();
    assert.ok(
      showsConsent(await type(browser, await ask(browser, own.user.email), await newestCode(own.user.email))),
    );
    const found = await findUserByEmail(running.service.database.query, org.organisation.id, own.user.email);
    assert.deepEqual([found?.user.emailVerified, found?.passwordHash], [true, null]);
    assert.ok(showsLogin(await visit(intruder, org)));
    assert.equal((await logIn(intruder, own, await visit(intruder, org))).status, 401);
  });

  test("a factor that somebody else may have set is asked for before the address counts as proven", async () => {
    const own = await make({ emailVerified: false });
    const app = await giveAuthenticator(running.service, own);
    const found = () => findUserByEmail(running.service.database.query, org.organisation.id, own.user.email);
    const browser = testBrowser();
    const asked = await type(browser, await ask(browser, own.user.email), await newestCode(own.user.email));
    assert.ok(showsTwoFactor(asked));
    assert.equal((await found())?.user.emailVerified, false);
    assert.notEqual((await found())?.passwordHash, null);
    assert.ok(showsConsent(await showFactor(browser, own, asked, { code: app.code(clock()) })));
    assert.equal((await found())?.user.emailVerified, true);
  });

  test("an identity that was linked before the address was proven signs nobody in afterwards", async () => {
    const own = await make({ emailVerified: false });
    const { database } = running.service;
    const there = await startHostileProvider(clock);
    try {
      const { id: connectionId, orgId } = await connectTo(running, org, there, "There");
      const identity = { orgId, connectionId, subject: "mallory" };
      const linked = { ...identity, userId: own.user.id, createdAt: clock(), lastSignInAt: clock() };
      assert.ok(await insertIdentity(database.query, linked));
      const browser = testBrowser();
      const sent = await ask(browser, own.user.email);
      assert.ok(showsConsent(await type(browser, sent, await newestCode(own.user.email))));
      assert.equal(await findIdentity(database.query, identity), undefined);
      const events = await listAuditEvents(database.query, orgId, 10);
      assert.ok(
        events.some(({ action, target }) => action === "identity.unlinked" && target === own.user.id),
      );
    } finally {
      await there.close();
    }
  });

  test("a disabled account gets no email, and no way in by a code that it got before", async () => {
    const own = await make();
    const browser = testBrowser();
    const sent = await ask(browser, own.user.email);
    const code = await newestCode(own.user.email);
    await running.service.database.query
      .updateTable("user_account")
      .set({ disabled_at: clock() })
      .where("org_id", "=", org.organisation.id)
      .where("id", "=", own.user.id)
      .execute();
    assert.equal((await type(browser, sent, code)).status, 401);
    await ask(testBrowser(), own.user.email);
    assert.equal((await codesTo(own.user.email)).length, 1);
  });

  test("a form without this browser's csrf token sends nothing and tries nothing", async () => {
    const own = await make();
    const browser = testBrowser();
    const second = await identify(browser, own.user.email);
    const form = { ...second.hidden, csrf: "", email: own.user.email, act: "send" };
    assert.equal((await browser.post(`${org.issuer}/email-code`, form)).status, 403);
    assert.equal((await codesTo(own.user.email)).length, 0);
    const sent = await ask(browser, own.user.email);
    const code = await newestCode(own.user.email);
    for (let guess = 0; guess < 6; guess++)
      await browser.post(`${org.issuer}/email-code`, { ...sent.hidden, csrf: "", "email-code": other(code) });
    assert.ok(showsConsent(await type(browser, sent, code)));
  });
});
