import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { findOpenAction } from "../../../core/actions/actions.ts";
import type { UserAction } from "../../../core/actions/user-action.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { changeDomain } from "../../../core/domains/domains.ts";
import { listMembers } from "../../../core/groups/group-members.store.ts";
import { createGroup } from "../../../core/groups/groups.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import type { SignUpSettings } from "../../../core/organisations/sign-up-settings.ts";
import { completeSignUp } from "../../../core/sign-ups/complete-sign-up.ts";
import { decideSignUp } from "../../../core/sign-ups/decide-sign-up.ts";
import { countWaiting } from "../../../core/sign-ups/sign-ups.store.ts";
import { emailKey } from "../../../core/users/user.ts";
import { findUserByEmail } from "../../../core/users/users.store.ts";
import { createUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo, newestLink } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { breakGlass, provenDomain } from "../../../testing/fixtures/routed-domain.ts";
import { newSignInConnection } from "../../../testing/fixtures/sign-in-connection.ts";
import {
  answerOf,
  decide,
  follow,
  logIn,
  sessionCookie,
  showsConsent,
  showsLogin,
  visit,
} from "../../../testing/fixtures/visit.ts";
import { countStatements } from "../../../testing/probes/counted-statements.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const DAY_MS = 86_400_000;
const TERMS = { version: "2026-11", url: "https://acme.example/terms" };
/** What timers write is left out, and what was put into the outbox is sent by one. */
const OF_REQUESTS =
  /^(?:insert into|update|delete from|select\b.*? from) "(?:user_action|user_account|membership|audit_event|audit_typed_email|audit_mention|rate_limit|domain|sign_up|accepted_terms)"|^insert into "outgoing_mail"/;

forEachDatabase(({ fresh }) => {
  const statements = countStatements();
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let browser: TestBrowser;
  let made = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      ...{ databaseUrl: await fresh(), clock, passwords: quickPasswords, env: MAIL_ENV },
      around: statements.dialect,
    });
  });
  beforeEach(async () => {
    org = await makeOrganisation(running.service, `Org${made++}`);
    browser = testBrowser();
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const settle = (signUp: Partial<SignUpSettings>) =>
    changeOrganisationSettings(running.service, {
      ...{ orgId: org.organisation.id, actor: "test" },
      settings: { signUp: { mode: "open", groups: [], ...signUp } },
    });
  const find = async (email: string) =>
    findUserByEmail(running.service.database.query, org.organisation.id, emailKey(email));
  const actions = async () =>
    (await listAuditEvents(running.service.database.query, org.organisation.id, 100)).map(
      ({ action }) => action,
    );
  /** Mailboxes are one for all organisations. */
  const mail = (email: string) => `${made}.${email}`;
  const page = () => `${org.issuer}/sign-up`;
  /** From the sign-in page of the web application to the page that an email was sent. */
  const ask = async (email: string, more: Readonly<Record<string, string>> = {}): Promise<TestPage> => {
    const login = await visit(browser, org, { more });
    const [, uri = ""] = /id="sign-up" href="([^"]+)"/.exec(login.body) ?? [];
    const form =
      uri === "" ? login : await browser.get(new URL(uri.replaceAll("&amp;", "&"), org.issuer).href);
    assert.match(form.body, /id="sign-up-submit"/);
    return browser.post(page(), { ...form.hidden, email });
  };
  const typed = { firstname: "Nora", surname: "Nye", password: PASSWORD };
  const openLink = async (email: string, at = browser) =>
    follow(at, await at.get(await newestLink(running.service, email)));
  const complete = async (form: TestPage, more: Readonly<Record<string, string>> = {}, at = browser) =>
    at.post(form.url, { ...form.hidden, ...typed, ...more });

  test("off: neither page nor link, and prompt=create is an unknown value", async () => {
    assert.doesNotMatch((await visit(browser, org)).body, /id="sign-up"/);
    assert.equal((await browser.get(page())).status, 404);
    assert.equal((await browser.post(page(), { email: mail("nora@new.example") })).status, 404);
    const answer = answerOf(await visit(browser, org, { more: { prompt: "create" } }));
    assert.equal(answer.get("error"), "invalid_request");
    const discovered = await browser.get(`${org.issuer}/.well-known/openid-configuration`);
    assert.ok(!JSON.parse(discovered.body).prompt_values_supported.includes("create"));
  });

  test("an account exists after the page behind the link, and the sign-in goes on in the same browser", async () => {
    await settle({});
    const email = mail("nora@new.example");
    const sent = await ask(email);
    assert.equal(sent.status, 200);
    assert.match(sent.body, /id="sign-up-sent"/);
    const mails = await mailsTo(running.service, email);
    assert.deepEqual(
      mails.map(({ mail }) => mail.template),
      ["SignUp"],
    );
    assert.match(await newestLink(running.service, email), /\/verify\/sgn_ua_[\w-]{43}$/);
    const form = await openLink(email);
    for (const id of ["firstname", "surname", "password", "sign-up-complete"])
      assert.match(form.body, new RegExp(`id="${id}"`));
    assert.doesNotMatch(form.body, /terms-accept/);
    assert.equal(await find(email), undefined, "mail scanners follow links");
    const done = await follow(browser, await complete(form));
    assert.ok(showsConsent(done), done.body);
    const answer = answerOf(await decide(browser, org, done));
    assert.ok(answer.get("code"));
    const found = await find(email);
    assert.deepEqual(
      [found?.user.firstname, found?.user.emailVerified, found?.user.role],
      ["Nora", true, "Standard"],
    );
    assert.equal((await complete(form)).status, 404, "the link works once");
    assert.equal((await browser.get(form.url)).status, 404);
    const events = await actions();
    for (const action of ["sign-up.requested", "sign-up.completed", "user.registered"] as const)
      assert.equal(events.filter((one) => one === action).length, 1, action);
  });

  test("in another browser only the account is signed in: nobody is led into an application that somebody else has chosen", async () => {
    await settle({});
    await ask(mail("nora@new.example"));
    const other = testBrowser();
    const form = await openLink(mail("nora@new.example"), other);
    const done = await follow(other, await complete(form, {}, other));
    assert.equal(new URL(done.url).pathname, `/oauth/${org.organisation.id}/account`);
    assert.ok(sessionCookie(other, org));
    assert.ok(showsLogin(await visit(browser, org)), "the browser that asked is not signed in");
  });

  test("in another browser where somebody is signed in, nobody becomes somebody else", async () => {
    await settle({});
    await ask(mail("nora@new.example"));
    const other = testBrowser();
    await logIn(other, org, await visit(other, org));
    const session = sessionCookie(other, org);
    const done = await complete(await openLink(mail("nora@new.example"), other), {}, other);
    assert.match(done.body, /id="sign-up-created"/);
    assert.deepEqual(sessionCookie(other, org), session);
  });

  test("known, unknown, disabled and refused addresses: the same answer and statements, and one email to an owner", async () => {
    await settle({ mode: "domains" });
    await provenDomain(running.service, org.organisation.id, { domain: "own.example" });
    const account = async (email: string, isDisabled = false) => {
      const id = await createUser(running.service, {
        ...{ organisation: org.organisation, email, password: PASSWORD, firstname: "Uma", surname: "Berg" },
        ...{ role: "Standard", emailVerified: true, actor: "test" },
      });
      if (isDisabled)
        await running.service.database.query
          .updateTable("user_account")
          .set({ disabled_at: 1 })
          .where("org_id", "=", org.organisation.id)
          .where("id", "=", id)
          .execute();
      return email;
    };
    const traceOf = async (email: string) => {
      const at = testBrowser();
      const form = await at.get(page());
      statements.take();
      const answer = await at.post(page(), { ...form.hidden, email });
      const own = statements.take().filter((sql) => OF_REQUESTS.test(sql));
      assert.ok(own.length > 5, "its statements are seen");
      const body = answer.body.replaceAll(email, "").replaceAll(/nonce="[^"]*"/g, "");
      return { status: answer.status, body, own };
    };
    await traceOf(mail("first@own.example"));
    const expected = await traceOf(mail("new@own.example"));
    const known = await account(mail("known@own.example"));
    const others = [known, await account(mail("off@own.example"), true), mail("new@elsewhere.example")];
    for (const email of others) assert.deepEqual(await traceOf(email), expected, email);
    const templates = async (email: string) =>
      (await mailsTo(running.service, email)).map(({ mail }) => mail.template);
    assert.deepEqual(await templates(mail("new@own.example")), ["SignUp"]);
    assert.deepEqual(await templates(known), ["AccountExists"]);
    for (const email of others.slice(1)) assert.deepEqual(await templates(email), []);
  });

  test("domains: only while the domain is proven, also when the link is used", async () => {
    await settle({ mode: "domains" });
    const { id } = await provenDomain(running.service, org.organisation.id, { domain: "own.example" });
    await ask(mail("nora@own.example"));
    const form = await openLink(mail("nora@own.example"));
    assert.match(form.body, /sign-up-complete/);
    await running.service.database.query
      .updateTable("domain")
      .set({ state: "lapsed" })
      .where("org_id", "=", org.organisation.id)
      .where("id", "=", id)
      .execute();
    assert.equal((await complete(form)).status, 404);
    assert.equal(await find(mail("nora@own.example")), undefined);
  });

  test("addresses of an enforced domain go to its connection", async () => {
    await settle({});
    const orgId = org.organisation.id;
    const connectionId = await newSignInConnection(running.service, orgId);
    const { id } = await provenDomain(running.service, orgId, { domain: "own.example", connectionId });
    await breakGlass(running.service, org.organisation);
    await changeDomain(running.service, { orgId, id, actor: "test", change: { enforced: true } });
    const answer = await ask(mail("nora@own.example"));
    assert.equal(answer.status, 303);
    assert.ok(String(answer.location).startsWith(`${org.issuer}/connections/${connectionId}/start?flow=`));
    assert.deepEqual(await mailsTo(running.service, mail("nora@own.example")), []);
  });

  test("the link ends after a day, and with sign-up", async () => {
    await settle({});
    await ask(mail("late@new.example"));
    const late = await newestLink(running.service, mail("late@new.example"));
    clock.advance(DAY_MS);
    assert.equal((await follow(browser, await browser.get(late))).status, 404);
    await ask(mail("nora@new.example"));
    const form = await openLink(mail("nora@new.example"));
    await settle({ mode: "off" });
    assert.equal((await complete(form)).status, 404);
    assert.equal(await find(mail("nora@new.example")), undefined);
  });

  test("another request for the address leaves the first link as it is; of two links one makes the account", async () => {
    await settle({});
    await ask(mail("nora@new.example"));
    const first = await openLink(mail("nora@new.example"));
    const stranger = testBrowser();
    await stranger.post(page(), { ...(await stranger.get(page())).hidden, email: mail("nora@new.example") });
    const second = await openLink(mail("nora@new.example"));
    assert.notEqual(first.url, second.url);
    const both = await Promise.all([first, second].map((form) => complete(form)));
    assert.equal(both.filter(({ status }) => status === 303).length, 1);
    assert.equal(both.filter(({ status }) => status === 404).length, 1);
  });

  test("a link is used once, also where an administrator approves: of several at once one waits, and after a decision none", async () => {
    await settle({ mode: "approval" });
    await ask(mail("nora@new.example"));
    const form = await openLink(mail("nora@new.example"));
    const other = testBrowser();
    const elsewhere = await openLink(mail("nora@new.example"), other);
    const { query } = running.service.database;
    const orgId = org.organisation.id;
    const named = { orgId, type: "SignUp", id: new URL(form.url).pathname.split("/").at(-1) ?? "" } as const;
    const opened = await findOpenAction(query, running.service, named);
    await Promise.all([complete(form), complete(form), complete(elsewhere, {}, other)]);
    // Another node has opened it before.
    const late = await completeSignUp(
      { ...running.service, baseUrl: running.baseUrl },
      {
        ...{ action: opened as UserAction, id: named.id, firstname: "Nora", surname: "Nye", locale: null },
        ...{ organisation: (await findOrganisation(query, orgId)) ?? org.organisation },
        ...{ address: "192.0.2.1", passwordHash: null, terms: undefined },
      },
    );
    assert.equal(late.kind, "void");
    assert.equal((await actions()).filter((action) => action === "sign-up.completed").length, 1);
    const [waiting] = await query.selectFrom("sign_up").select("id").where("org_id", "=", orgId).execute();
    const rejected = { orgId, actor: "test", id: waiting?.id ?? "", decision: "rejected" } as const;
    await decideSignUp({ ...running.service, baseUrl: running.baseUrl }, rejected);
    await complete(form);
    assert.equal(await countWaiting(query, orgId), 0);
    assert.equal((await actions()).filter((action) => action === "sign-up.completed").length, 1);
  });

  test("what is typed wrong is told, keeps the rest, and uses nothing up", async () => {
    await settle({ terms: TERMS });
    await ask(mail("nora@new.example"));
    const form = await openLink(mail("nora@new.example"));
    assert.match(form.body, /href="https:\/\/acme\.example\/terms"/);
    const accept = { "terms-accept": "yes" };
    for (const [more, text] of [
      [{ ...accept, firstname: " " }, /Enter a first name/],
      [{ ...accept, surname: "x".repeat(101) }, /Enter a first name/],
      [{ ...accept, password: "short" }, /at least 12 characters/],
      [{}, /Accept the terms/],
      [{ ...accept, "terms-version": "2025" }, /Accept the terms/],
    ] as const) {
      const again = await complete(form, more);
      assert.equal(again.status, 422, JSON.stringify(more));
      assert.match(again.body, text);
      assert.doesNotMatch(again.body, new RegExp(PASSWORD));
    }
    assert.equal((await complete(form, { ...accept, csrf: "x" })).status, 403);
    assert.equal((await complete(form, accept)).status, 303);
    const user = (await find(mail("nora@new.example")))?.user;
    const [row] = await running.service.database.query
      .selectFrom("accepted_terms")
      .selectAll()
      .where("org_id", "=", org.organisation.id)
      .execute();
    assert.deepEqual([row?.user_id, row?.version, row?.accepted_at], [user?.id, TERMS.version, clock()]);
    assert.ok((await actions()).includes("terms.accepted"));
  });

  test("new users get into the groups of the settings", async () => {
    const orgId = org.organisation.id;
    const group = async (displayName: string) =>
      createGroup(running.service, {
        ...{ orgId, actor: "test" },
        content: { displayName, description: null, externalId: null },
      });
    const [one, two] = [await group("Guests"), await group("Readers")];
    await settle({ groups: [one.id, two.id] });
    await running.service.database.query
      .deleteFrom("user_group")
      .where("org_id", "=", orgId)
      .where("id", "=", two.id)
      .execute();
    await ask(mail("nora@new.example"));
    assert.equal((await complete(await openLink(mail("nora@new.example")))).status, 303);
    const user = (await find(mail("nora@new.example")))?.user;
    const inGroup = await listMembers(running.service.database.query, { orgId, id: one.id }, {
      limit: 10,
      effective: false,
    } as never);
    assert.deepEqual(
      inGroup.map(({ id }) => id),
      [user?.id],
    );
  });

  test("prompt=create opens the page, also for who is signed in; whoever has an account signs in instead", async () => {
    await settle({});
    const discovered = await browser.get(`${org.issuer}/.well-known/openid-configuration`);
    assert.ok(JSON.parse(discovered.body).prompt_values_supported.includes("create"));
    await logIn(browser, org, await visit(browser, org));
    clock.advance(1);
    const form = await visit(browser, org, {
      more: { prompt: "create", login_hint: mail("nora@new.example") },
    });
    assert.match(form.body, /id="sign-up-submit"/);
    assert.match(form.body, new RegExp(`value="${mail("nora@new.example")}"`));
    const [, back = ""] = /id="back-to-sign-in" href="([^"]+)"/.exec(form.body) ?? [];
    const signedIn = await follow(browser, await browser.get(new URL(back, org.issuer).href));
    assert.ok(showsConsent(signedIn), "the session that is there");
    await browser.post(page(), { ...form.hidden, email: mail("nora@new.example") });
    const done = await follow(browser, await complete(await openLink(mail("nora@new.example"))));
    assert.ok(showsConsent(done));
    assert.match(done.body, /nora@new\.example/);
  });

  test("per address five emails an hour, per network a limit too", async () => {
    await settle({});
    for (let time = 0; time < 5; time++) assert.equal((await ask(mail("nora@new.example"))).status, 200);
    const refused = await ask(mail("nora@new.example"));
    assert.equal(refused.status, 429);
    assert.ok(refused.headers.get("retry-after"));
    assert.equal((await mailsTo(running.service, mail("nora@new.example"))).length, 5);
  });
});
