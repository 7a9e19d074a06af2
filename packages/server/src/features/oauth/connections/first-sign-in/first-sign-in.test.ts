// First sign-ins at a provider whose word is not enough: the address by a code, the account by its own factors, in one browser.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import type { Connection } from "../../../../core/connections/connection.ts";
import { findIdentity } from "../../../../core/connections/sign-in/linked-identities.store.ts";
import type { AskedSettings } from "../../../../core/connections/sign-in/settings-rules.ts";
import { changeSignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { addTotp, newTotpSecret } from "../../../../core/second-factors/totp/totp.ts";
import { findUserByEmail } from "../../../../core/users/users.store.ts";
import { createUser } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../../testing/fakes/hostile-provider.ts";
import { MAIL_ENV, mailsTo } from "../../../../testing/fakes/mailbox.ts";
import { connectTo, signInUpstream } from "../../../../testing/fixtures/upstream-sign-in.ts";
import { follow, logIn, showsConsent, showsLogin, visit } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let there: HostileProvider;
  let connection: Connection;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1", ...MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    connection = await connectTo(running, org, there, "There");
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const signIn = (browser: TestBrowser, of: Connection = connection) =>
    signInUpstream({ running, org, there, connection: of, browser, asked: { more: { prompt: "login" } } });
  const postTo = async (browser: TestBrowser, page: TestPage, path: string, form: Record<string, string>) =>
    follow(browser, await browser.post(`${org.issuer}/${path}`, { ...page.hidden, ...form }));
  const typeCode = (browser: TestBrowser, page: TestPage, code: string) =>
    postTo(browser, page, "email-code", { "email-code": code });
  const codesTo = async (email: string): Promise<string[]> =>
    (await mailsTo(running.service, email)).flatMap(({ mail }) =>
      mail.template === "EmailCode" ? [mail.data.code] : [],
    );
  const newestCode = async (email: string) => (await codesTo(email)).at(-1) ?? "";
  const wrongCode = (right: string) => (right === "000000" ? "000001" : "000000");
  const account = async (email: string) =>
    (await findUserByEmail(running.service.database.query, org.organisation.id, email))?.user;
  const linkedTo = async (subject: string, { id: connectionId }: Connection = connection) =>
    (
      await findIdentity(running.service.database.query, {
        orgId: org.organisation.id,
        connectionId,
        subject,
      })
    )?.userId;
  const make = (email: string, more = {}) =>
    createUser(running.service, {
      ...{ organisation: org.organisation, firstname: "Uma", surname: "Berg", actor: "test", email },
      ...{ emailVerified: true, role: "Standard", password: org.user.password, ...more },
    });
  const comparable = ({ status, body }: TestPage, email: string): string =>
    `${status} ${body}`
      .replaceAll(email, "EMAIL")
      .replaceAll(/flow=[\w.-]+|nonce="[^"]*"|name="csrf" value="[^"]*"/g, "");

  test("an address that is not trusted is proven by a code; then the account is made, verified", async () => {
    there.claims = { sub: "code-1", email: "code-1@there.example", email_verified: false };
    const browser = testBrowser();
    const page = await signIn(browser);
    assert.match(page.body, /id="email-code"/);
    assert.match(page.body, /autocomplete="one-time-code"/);
    assert.equal(await account("code-1@there.example"), undefined);
    const code = await newestCode("code-1@there.example");
    assert.match(code, /^\d{6}$/);
    assert.ok(showsConsent(await typeCode(browser, page, ` ${code.slice(0, 3)} ${code.slice(3)} `)));
    const made = await account("code-1@there.example");
    assert.equal(made?.emailVerified, true);
    assert.equal(await linkedTo("code-1"), made?.id);
    const told = (await mailsTo(running.service, "code-1@there.example")).map(({ mail }) => mail.template);
    assert.ok(!told.includes("IdentityLinked"), "the account is new");
    // From now on without a code.
    assert.ok(showsConsent(await signIn(testBrowser())));
    assert.equal((await codesTo("code-1@there.example")).length, 1);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 30);
    assert.ok(events.some(({ action, target }) => action === "email-code.sent" && target === connection.id));
  });

  test("who brings no address is asked for one, and gets the account of the one that is proven", async () => {
    there.claims = { sub: "asked", email: undefined };
    there.userinfo = { sub: "asked" };
    const browser = testBrowser();
    const page = await signIn(browser);
    for (const id of ["email", "email-code-send"]) assert.match(page.body, new RegExp(`id="${id}"`));
    const bad = await postTo(browser, page, "email-code", { act: "send", email: "nobody" });
    assert.equal(bad.status, 422);
    const sent = await postTo(browser, page, "email-code", { act: "send", email: "asked@there.example" });
    assert.match(sent.body, /asked@there\.example/);
    const other = await postTo(browser, sent, "email-code", { act: "other" });
    assert.match(other.body, /id="email-code-send"/);
    const again = await postTo(browser, other, "email-code", { act: "send", email: "asked-2@there.example" });
    assert.equal((await typeCode(browser, again, await newestCode("asked@there.example"))).status, 401);
    assert.ok(showsConsent(await typeCode(browser, again, await newestCode("asked-2@there.example"))));
    assert.equal(await linkedTo("asked"), (await account("asked-2@there.example"))?.id);
    assert.equal(await account("asked@there.example"), undefined);
  });

  test("known and unknown addresses get the same pages, and no account before the code", async () => {
    await make("known@there.example");
    const pages: string[] = [];
    for (const email of ["known@there.example", "nobody@there.example"]) {
      there.claims = { sub: `same-${email}`, email, email_verified: false };
      const browser = testBrowser();
      const page = await signIn(browser);
      const wrong = await typeCode(browser, page, wrongCode(await newestCode(email)));
      pages.push(comparable(page, email) + comparable(wrong, email));
    }
    assert.equal(pages[0], pages[1]);
  });

  test("a code is tried five times in all, also in parallel; a new one voids it, and its tries", async () => {
    const email = "guess@there.example";
    there.claims = { sub: "guess", email, email_verified: false };
    const browser = testBrowser();
    const page = await signIn(browser);
    const first = await newestCode(email);
    const guesses = Array.from({ length: 12 }, () =>
      browser.post(`${org.issuer}/email-code`, { ...page.hidden, "email-code": wrongCode(first) }),
    );
    assert.deepEqual([...new Set((await Promise.all(guesses)).map(({ status }) => status))], [401]);
    const { rows } = {
      rows: await running.service.database.query.selectFrom("email_code").selectAll().execute(),
    };
    assert.equal(rows.find((row) => row.email === email)?.tries, 5);
    assert.match((await typeCode(browser, page, first)).body, /entered wrongly too often/);
    const resent = await postTo(browser, page, "email-code", { act: "resend" });
    const second = await newestCode(email);
    if (first !== second) assert.equal((await typeCode(browser, resent, first)).status, 401);
    assert.ok(showsConsent(await typeCode(browser, resent, second)));
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 30);
    assert.ok(events.some(({ action }) => action === "email-code.failed"));
  });

  test("a code is good for ten minutes, once, in the browser that it was asked for in", async () => {
    const email = "bound@there.example";
    there.claims = { sub: "bound", email, email_verified: false };
    const [browser, thief] = [testBrowser(), testBrowser()];
    const page = await signIn(browser);
    const code = await newestCode(email);
    // Another browser, also one whose own sign-in waits for a code.
    there.claims = { sub: "thief", email: "thief@there.example", email_verified: false };
    const own = await signIn(thief);
    assert.equal(
      (await typeCode(thief, own, code)).status,
      code === (await newestCode("thief@there.example")) ? 200 : 401,
    );
    assert.equal(
      (await testBrowser().post(`${org.issuer}/email-code`, { ...page.hidden, "email-code": code })).status,
      400,
    );
    clock.advance(10 * 60_000);
    assert.equal((await typeCode(browser, page, code)).status, 401);
    const resent = await postTo(browser, page, "email-code", { act: "resend" });
    const next = await newestCode(email);
    const both = await Promise.all(
      [0, 1].map(() => browser.post(`${org.issuer}/email-code`, { ...resent.hidden, "email-code": next })),
    );
    assert.equal(both.filter(({ status }) => status === 303).length, 1);
    const cookie = [...browser.cookies.keys()].find((name) => name.includes("signet-first"));
    assert.equal(cookie, undefined);
  });

  test("five codes an hour go to an address, whichever browser asks", async () => {
    const email = "flood@there.example";
    there.claims = { sub: "flood", email, email_verified: false };
    for (let sent = 0; sent < 5; sent++) assert.match((await signIn(testBrowser())).body, /id="email-code"/);
    const browser = testBrowser();
    const page = await signIn(browser);
    assert.match(page.body, /id="email-code-send"/);
    assert.equal((await postTo(browser, page, "email-code", { act: "send", email })).status, 429);
    assert.equal((await codesTo(email)).length, 5);
    clock.advance(3_600_000);
    assert.match(
      (await postTo(browser, await signIn(browser), "email-code", { act: "send", email })).body,
      /id="email-code"/,
    );
  });

  test("a form of another page does nothing", async () => {
    there.claims = { sub: "csrf", email: "csrf@there.example", email_verified: false };
    const browser = testBrowser();
    const page = await signIn(browser);
    const code = await newestCode("csrf@there.example");
    assert.equal((await browser.post(`${org.issuer}/email-code`, { "email-code": code })).status, 403);
    assert.ok(showsConsent(await typeCode(browser, page, code)));
  });

  const reachLink = async (browser: TestBrowser, sub: string, email: string, of: Connection = connection) => {
    there.claims = { sub, email, email_verified: false };
    const page = await typeCode(browser, await signIn(browser, of), await newestCode(email));
    assert.match(page.body, /id="link-account"/);
    return page;
  };

  test("an account that is there is linked once the person has signed in to it, in the same browser", async () => {
    const email = "linked@there.example";
    const id = await make(email);
    const browser = testBrowser();
    const page = await reachLink(browser, "linked", email);
    assert.equal(await linkedTo("linked"), undefined);
    assert.ok(showsLogin(await visit(browser, org)), "the code signs nobody in to an account that is there");
    assert.equal((await testBrowser().get(`${org.issuer}/link-account`)).status, 400);
    assert.equal((await browser.post(`${org.issuer}/link-account`, { act: "link" })).status, 403);
    const login = await postTo(browser, page, "link-account", { act: "link" });
    assert.ok(showsLogin(login));
    assert.match(login.body, new RegExp(`value="${email}"`));
    assert.ok(showsConsent(await logIn(browser, org, login, { email })));
    assert.equal(await linkedTo("linked"), id);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 30);
    const linked = events.find(({ action, target }) => action === "identity.linked" && target === id);
    assert.equal(linked?.actor, `user:${id}`);
    assert.ok(showsConsent(await signIn(testBrowser())));
    assert.equal((await browser.get(`${org.issuer}/link-account`)).status, 400, "once");
  });

  test("another account, an earlier sign-in, and a password without its second factor link nothing", async () => {
    const email = "careful@there.example";
    const id = await make(email);
    const owner = { homeOrgId: org.organisation.id, userId: id };
    const secret = await newTotpSecret();
    await addTotp(running.service, running.service.database.query, owner, { secret, step: 0, now: clock() });
    const browser = testBrowser();
    await logIn(browser, org, await visit(browser, org));
    clock.advance(1_000);
    const page = await reachLink(browser, "careful", email);
    const login = await postTo(browser, page, "link-account", { act: "link" });
    assert.ok(showsLogin(login), "who is signed in signs in again");
    const other = await logIn(browser, org, login);
    assert.equal(other.status, 403);
    assert.match(other.body, /another account/);
    clock.advance(1_000);
    const second = await postTo(browser, other, "link-account", { act: "link" });
    const factor = await logIn(browser, org, second, { email });
    assert.match(factor.body, /id="twofactor-submit"/);
    await browser.get(`${org.issuer}/link-account`);
    assert.equal(await linkedTo("careful"), undefined);
  });

  test("who does not link goes back to the sign-in page, and a connection that never links says so", async () => {
    const email = "cancel@there.example";
    await make(email);
    const browser = testBrowser();
    const page = await reachLink(browser, "cancel", email);
    assert.ok(showsLogin(await postTo(browser, page, "link-account", { act: "cancel" })));
    assert.equal((await browser.get(`${org.issuer}/link-account`)).status, 400);
    const never = await connectTo(running, org, there, "Never", { linking: "never" });
    there.claims = { sub: "never", email, email_verified: false };
    const other = testBrowser();
    const refused = await typeCode(other, await signIn(other, never), await newestCode(email));
    assert.equal(refused.status, 403);
    assert.match(refused.body, /id="connection-error"/);
  });

  test("what waits ends when its connection is disabled, or has moved to another issuer", async () => {
    const own = await connectTo(running, org, there, "Moving");
    there.claims = { sub: "moving", email: "moving@there.example", email_verified: false };
    const browser = testBrowser();
    const page = await signIn(browser, own);
    const code = await newestCode("moving@there.example");
    const change = (settings: AskedSettings, enabled: boolean) =>
      changeSignInConnection(running.service, {
        ...{ orgId: org.organisation.id, actor: "test", id: own.id },
        ask: ({ kind, name, settings: before }) => ({
          ...{ kind, name, enabled, clientSecret: "of another" },
          settings: { ...before, ...settings },
        }),
      });
    await change({}, false);
    assert.equal((await typeCode(browser, page, code)).status, 400);
    await change({ oidc: { issuer: "https://other.example", clientId: "signet" } }, true);
    assert.equal((await typeCode(browser, page, code)).status, 400);
    assert.equal(await account("moving@there.example"), undefined);
  });
});
