// A domain that is enforced leaves its people its connection alone; break-glass administrators come in past it, and it is told.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import { grantBreakGlass } from "../../../../core/break-glass/break-glass.ts";
import type { Connection } from "../../../../core/connections/connection.ts";
import { insertIdentity } from "../../../../core/connections/sign-in/linked-identities.store.ts";
import { changeDomain } from "../../../../core/domains/domains.ts";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { resetFactors } from "../../../../core/second-factors/changes.ts";
import { invite } from "../../../../core/users/invitations/invitations.ts";
import { findUser, findUserByEmail } from "../../../../core/users/users.store.ts";
import { createUser, setUserStatus } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../../testing/fakes/hostile-provider.ts";
import { MAIL_ENV, mailsTo } from "../../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import type { SoftPasskey } from "../../../../testing/fakes/soft-passkey.ts";
import {
  giveAuthenticator,
  givePasskey,
  passkeyOptions,
  showFactor,
  showsTwoFactor,
} from "../../../../testing/fixtures/factors.ts";
import { breakGlass, provenDomain } from "../../../../testing/fixtures/routed-domain.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../../../testing/fixtures/system-account.ts";
import { connectTo, signInUpstream } from "../../../../testing/fixtures/upstream-sign-in.ts";
import { follow, showsConsent, showsLogin, visit } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
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
  let api: TestAccount;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1", ...MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), clock, env, passwords: quickPasswords });
    const { service } = running;
    org = await makeOrganisation(service);
    there = await startHostileProvider(clock);
    connection = await connectTo(running, org, there, "Own");
    await breakGlass(service, org.organisation);
    api = await makeSystemAccount(service, org);
    const { id: orgId } = org.organisation;
    const domain = org.user.email.split("@").at(-1) ?? "";
    const { id } = await provenDomain(service, orgId, { domain, connectionId: connection.id });
    await changeDomain(service, { orgId, actor: "test", id, change: { enforced: true } });
  });
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const make = (email: string, role: "Standard" | "Administrator" = "Standard") =>
    createUser(running.service, {
      ...{ organisation: org.organisation, firstname: "Uma", surname: "Berg", actor: "test", email, role },
      ...{ emailVerified: true, password: PASSWORD },
    });
  const inDomain = (name: string) => org.user.email.replace(/^[^@]*/, name);
  const login = async (browser: TestBrowser, email: string, password = PASSWORD) => {
    const page = await visit(browser, org);
    return browser.post(`${org.issuer}/login`, { ...page.hidden, email, password });
  };
  const lastAction = async (action: string) =>
    (await listAuditEvents(running.service.database.query, org.organisation.id, 30)).find(
      (event) => event.action === action,
    );

  test("right, wrong and unknown: every address of the domain goes to its connection, and nobody is signed in", async () => {
    const leads: string[] = [];
    for (const [email, password] of [
      [org.user.email, PASSWORD],
      [org.user.email.toUpperCase(), PASSWORD],
      [` ${org.user.email}`, "wrong"],
      // The account is found by it: U+FF20 is an @ in the key of an address.
      [org.user.email.replace("@", "\uff20"), PASSWORD],
      [inDomain("nobody"), PASSWORD],
    ] as const) {
      const browser = testBrowser();
      const { status, location = "" } = await login(browser, email, password);
      assert.equal(status, 303);
      leads.push(new URL(location).pathname);
      assert.match((await browser.get(location)).location ?? "", new RegExp(`^${there.issuer}/authorize`));
      assert.ok(showsLogin(await visit(browser, org)));
    }
    assert.deepEqual(
      [...new Set(leads)],
      [`/oauth/${org.organisation.id}/connections/${connection.id}/start`],
    );
  });

  test("no policy of a page keeps its form from the provider: of the account's sign-in, of sign-up, and nowhere else", async () => {
    const policy = async (path: string, browser = testBrowser()) =>
      (await follow(browser, await browser.get(`${org.issuer}/${path}`))).headers.get(
        "content-security-policy",
      ) ?? "";
    const { id: orgId } = org.organisation;
    const settings = { signUp: { mode: "open", groups: [] } } as const;
    await changeOrganisationSettings(running.service, { orgId, actor: "test", settings });
    // Browsers check redirects after a POST against it (CSP 3, "form-action").
    for (const path of ["account/profile", "sign-up"])
      assert.doesNotMatch(await policy(path), /form-action/, path);
    for (const path of ["break-glass", "recovery"])
      assert.match(await policy(path), /form-action 'self'/, path);
    const off = { signUp: { mode: "off", groups: [] } } as const;
    await changeOrganisationSettings(running.service, { orgId, actor: "test", settings: off });
  });

  test("addresses of other domains sign in as before", async () => {
    await make("uma@elsewhere.example");
    const browser = testBrowser();
    assert.ok(showsConsent(await follow(browser, await login(browser, "uma@elsewhere.example"))));
    assert.equal((await login(testBrowser(), "uma@elsewhere.example", "wrong")).status, 401);
  });

  test("the domain's own connection signs in", async () => {
    there.claims = { sub: "ivy", email: inDomain("ivy") };
    assert.ok(showsConsent(await signInUpstream({ running, org, there, connection })));
    there.reset();
  });

  test("a passkey of the domain is refused", async () => {
    const passkey = await givePasskey(running.service, org);
    const browser = testBrowser();
    const page = await visit(browser, org);
    const { csrf = "", flow = "" } = page.hidden;
    const answer = passkey.answer(passkeyOptions<Parameters<typeof passkey.answer>[0]>(page));
    assert.equal((await browser.post(`${org.issuer}/login`, { csrf, flow, passkey: answer })).status, 401);
    assert.ok(showsLogin(await visit(browser, org)));
  });

  test("nobody of the domain is mailed a link for a password, or registered; the answers are as for others", async () => {
    const browser = testBrowser();
    for (const email of [org.user.email, "nobody@elsewhere.example"]) {
      const page = await browser.get(`${org.issuer}/recovery`);
      const sent = await browser.post(`${org.issuer}/recovery`, { ...page.hidden, email });
      assert.match(sent.body, /id="recovery-sent"/);
    }
    const register = (email: string) =>
      callApi(`${running.baseUrl}/legacy/api/Authentication/User/Register`, api, {
        body: { Email: email, Password: "amber kettle forty", Firstname: "Nina", Surname: "New" },
      });
    assert.equal((await register(org.user.email)).status, 202);
    assert.equal((await register(inDomain("new"))).status, 202);
    assert.equal((await register("new@elsewhere.example")).status, 202);
    const told = async (email: string) =>
      (await mailsTo(running.service, email)).map(({ mail }) => mail.template);
    assert.deepEqual(await told(org.user.email), []);
    assert.deepEqual(await told(inDomain("new")), []);
    assert.deepEqual(await told("new@elsewhere.example"), ["VerifyEmail"]);
  });

  test("User/Login has the password wrong, and counts it as wrong", async () => {
    const call = (email: string, password: string) =>
      callApi(`${running.baseUrl}/legacy/api/Authentication/User/Login`, api, {
        body: { Email: email, Password: password },
      });
    const email = inDomain("counted");
    await make(email);
    const statuses: number[] = [];
    for (let time = 0; time < 11; time++) statuses.push((await call(email, PASSWORD)).status);
    assert.deepEqual(statuses, [...Array(10).fill(401), 429]);
  });

  test("another connection makes no account of the domain, whoever has the mailbox", async () => {
    const other = await connectTo(running, org, there, "Other", { emailTrust: "verifiedClaim" });
    there.claims = { sub: "around", email: inDomain("around") };
    assert.match(
      (await signInUpstream({ running, org, there, connection: other })).body,
      /id="connection-error"/,
    );
    there.claims = { sub: "around", email: inDomain("around"), email_verified: false };
    const browser = testBrowser();
    const page = await signInUpstream({ running, org, there, connection: other, browser });
    const mail = (await mailsTo(running.service, inDomain("around"))).at(-1)?.mail;
    const code = mail?.template === "EmailCode" ? mail.data.code : "";
    const refused = await browser.post(`${org.issuer}/email-code`, { ...page.hidden, "email-code": code });
    assert.equal(refused.status, 403);
    const { query } = running.service.database;
    assert.equal(await findUserByEmail(query, org.organisation.id, inDomain("around")), undefined);
    there.reset();
  });

  test("nor does it sign in whom it had signed in before", async () => {
    const other = await connectTo(running, org, there, "Before");
    const email = inDomain("before");
    const [{ id: orgId }, now] = [org.organisation, clock()];
    const identity = { orgId, connectionId: other.id, subject: "before", userId: await make(email) };
    const { query } = running.service.database;
    assert.ok(await insertIdentity(query, { ...identity, createdAt: now, lastSignInAt: now }));
    there.claims = { sub: "before", email: "before@elsewhere.example" };
    const refused = await signInUpstream({ running, org, there, connection: other });
    assert.equal(refused.status, 403);
    assert.match(refused.body, /id="connection-error"/);
    there.reset();
  });

  test("the link of an invitation sets a password, and signs nobody of the domain in", async () => {
    for (const [email, isIn] of [
      [inDomain("invited"), false],
      ["invited@elsewhere.example", true],
    ] as const) {
      const { organisation } = org;
      const person = { email, firstname: "Ida", surname: "Berg", role: "Standard", actor: "test" } as const;
      const { link = "" } = await invite(serving(), { organisation, ...person, sendMail: false });
      const browser = testBrowser();
      const page = await follow(browser, await browser.get(link));
      const action = `${org.issuer}/action/${link.split("/").at(-1)}/AcceptInvitation`;
      const password = "plum tractor ninety";
      assert.ok((await browser.post(action, { ...page.hidden, password })).status < 400);
      assert.equal(!showsLogin(await visit(browser, org)), isIn, email);
    }
  });

  test("whose account was there before the connection links it with the password of before, and with no other's", async () => {
    const email = inDomain("asked");
    await make(email);
    await make(inDomain("colleague"));
    there.claims = { sub: "asked", email };
    const browser = testBrowser();
    const ask = await signInUpstream({ running, org, there, connection, browser });
    assert.match(ask.body, /id="link-submit"/);
    const form = await follow(browser, await browser.post(`${org.issuer}/link-account`, { ...ask.hidden }));
    assert.ok(showsLogin(form));
    const answer = (typed: string, of = browser) =>
      of.post(`${org.issuer}/login`, { ...form.hidden, email: typed, password: PASSWORD });
    assert.match((await answer(inDomain("colleague"))).location ?? "", /\/connections\//);
    assert.ok(showsConsent(await follow(browser, await answer(email))));
    assert.ok(showsConsent(await signInUpstream({ running, org, there, connection })), "it is linked");
    there.reset();
  });

  const serving = () => ({ ...running.service, baseUrl: running.baseUrl });
  const breakIn = async (browser: TestBrowser, email: string, password = PASSWORD) => {
    const page = await browser.get(`${org.issuer}/break-glass`);
    assert.ok(showsLogin(page));
    assert.doesNotMatch(page.body, /id="(?:forgot-password|connection-|email-code-send)/);
    return follow(
      browser,
      await browser.post(`${org.issuer}/break-glass`, { ...page.hidden, email, password }),
    );
  };
  const comparable = ({ status, body }: TestPage, email: string) =>
    `${status} ${body}`
      .replaceAll(email, "EMAIL")
      .replaceAll(
        /flow" value="[\w.-]+|flow=[\w.-]+|nonce="[^"]*"|name="csrf" value="[^"]*"|data-options="[^"]*"/g,
        "",
      );

  test("a break-glass administrator comes in with the second factor, and every administrator is told", async () => {
    const email = inDomain("glass");
    const id = await make(email, "Administrator");
    const app = await giveAuthenticator(running.service, { ...org, user: { id, email, password: PASSWORD } });
    const before = await breakIn(testBrowser(), email);
    assert.equal(before.status, 401, "not yet granted");
    await grantBreakGlass(running.service, { orgId: org.organisation.id, actor: "test", userId: id });
    const browser = testBrowser();
    const factor = await breakIn(browser, email);
    assert.ok(showsTwoFactor(factor));
    const told = (await mailsTo(running.service, email)).map(({ mail }) => mail.template);
    assert.deepEqual(told, ["BreakGlassUsed"]);
    assert.equal((await lastAction("break-glass.used"))?.target, id);
    clock.advance(31_000);
    await showFactor(browser, org, factor, { code: app.code(clock()) });
    assert.ok(!showsLogin(await visit(browser, org)));
    // The account has lost its second factor since: the password alone is not enough.
    const user = await findUser(running.service.database.query, org.organisation.id, id);
    assert.ok(user);
    await resetFactors(running.service, { organisation: org.organisation, user, actor: "test" });
    assert.equal((await breakIn(testBrowser(), email)).status, 401);
  });

  const breakInByPasskey = async (passkey: SoftPasskey) => {
    const browser = testBrowser();
    const page = await browser.get(`${org.issuer}/break-glass`);
    const options = passkeyOptions<Parameters<SoftPasskey["answer"]>[0]>(page);
    const form = { ...page.hidden, passkey: passkey.answer(options) };
    return { browser, page: await browser.post(`${org.issuer}/break-glass`, form) };
  };

  test("a break-glass administrator comes in by a passkey, first or second factor, and nobody else does", async () => {
    const email = inDomain("glass-key");
    const id = await make(email, "Administrator");
    const passkey = await givePasskey(running.service, { ...org, user: { id, email, password: PASSWORD } });
    assert.equal((await breakInByPasskey(passkey)).page.status, 401, "not yet granted");
    await grantBreakGlass(running.service, { orgId: org.organisation.id, actor: "test", userId: id });
    const before = (await mailsTo(running.service, email)).length;
    const { browser, page } = await breakInByPasskey(passkey);
    assert.equal(page.status, 303, page.body);
    assert.ok(!showsLogin(await visit(browser, org)));
    const told = (await mailsTo(running.service, email)).slice(before).map(({ mail }) => mail.template);
    assert.ok(told.includes("BreakGlassUsed"));
    assert.equal((await lastAction("break-glass.used"))?.target, id);
    const second = testBrowser();
    const factor = await breakIn(second, email);
    assert.ok(showsTwoFactor(factor));
    const options = passkeyOptions<Parameters<SoftPasskey["answer"]>[0]>(factor);
    await showFactor(second, org, factor, { method: "passkey", passkey: passkey.answer(options) });
    assert.ok(!showsLogin(await visit(second, org)));
    const stranger = inDomain("other-key");
    const user = { id: await make(stranger), email: stranger, password: PASSWORD };
    const refused = await breakInByPasskey(await givePasskey(running.service, { ...org, user }));
    assert.equal(refused.page.status, 401);
    assert.ok(showsLogin(await visit(refused.browser, org)));
  });

  test("every administrator hears of it, those too who sign in by the connection alone, and each in their language", async () => {
    const all = Array.from({ length: 25 }, (_, at) => inDomain(`told-${at}`));
    const ids = await Promise.all(all.map((email) => make(email, "Administrator")));
    const { query } = running.service.database;
    await query
      .updateTable("user_account")
      .set({ password_hash: null })
      .where("org_id", "=", org.organisation.id)
      .where("id", "in", ids.slice(20))
      .execute();
    const disabled = ids[0] ?? "";
    await setUserStatus(running.service, {
      ...{ orgId: org.organisation.id, id: disabled, disabled: true, actor: "test" },
    });
    const email = inDomain("glass-many");
    const id = await make(email, "Administrator");
    await giveAuthenticator(running.service, { ...org, user: { id, email, password: PASSWORD } });
    await grantBreakGlass(running.service, { orgId: org.organisation.id, actor: "test", userId: id });
    await breakIn(testBrowser(), email);
    const counts = await Promise.all(
      all.map(
        async (to) =>
          (await mailsTo(running.service, to)).filter(({ mail }) => mail.template === "BreakGlassUsed")
            .length,
      ),
    );
    assert.deepEqual(counts, [0, ...all.slice(1).map(() => 1)]);
  });

  test("its languages lead back to the form, also after a wrong password", async () => {
    const browser = testBrowser();
    const first = await browser.get(`${org.issuer}/break-glass`);
    const wrong = await breakIn(testBrowser(), inDomain("nobody-3"));
    for (const { body } of [first, wrong]) {
      const [link = ""] = /\/language\/de\?to=[^"]*/.exec(body) ?? [];
      assert.notEqual(link, "");
      const german = await follow(
        browser,
        await browser.get(running.baseUrl + link.replaceAll("&amp;", "&")),
      );
      assert.match(german.body, /lang="de"/);
      assert.match(german.body, /action="[^"]*\/break-glass"/);
    }
  });

  test("everybody else has a wrong password there, in the same words", async () => {
    await make("other@elsewhere.example");
    const pages: string[] = [];
    for (const email of [org.user.email, inDomain("nobody-2"), "other@elsewhere.example"])
      pages.push(comparable(await breakIn(testBrowser(), email), email));
    assert.match(pages[0] ?? "", /^401 [\s\S]*Incorrect email or password/);
    assert.equal(new Set(pages).size, 1);
    const page = await testBrowser().post(`${org.issuer}/break-glass`, {
      email: org.user.email,
      password: PASSWORD,
    });
    assert.equal(page.status, 400, "without a sign-in that waits");
  });
});
