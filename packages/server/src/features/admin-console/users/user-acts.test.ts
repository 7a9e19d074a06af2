/** What an administrator does to somebody's sign-ins and to their account: each asked for, recorded, and for the right one. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { grantUserConsent, listUserConsents } from "../../../core/consents/consents.store.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import { bindSession, setSessionDevice } from "../../../core/sessions/sessions.store.ts";
import { findUser, findUserByEmail, insertMembership } from "../../../core/users/users.store.ts";
import { setUserStatus } from "../../../core/users/users.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../testing/fixtures/administered-organisation.ts";
import { giveAuthenticator, giveRecoveryCodes } from "../../../testing/fixtures/factors.ts";
import { follow, logIn, withUser } from "../../../testing/fixtures/visit.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  textOf,
} from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestOrganisation, type TestService } from "../../../testing/test-service.ts";

describe("actions on users", () => {
  let running: TestService;
  let clock: FakeClock;
  let org: AdministeredOrganisation;
  let other: AdministeredOrganisation;
  let here: ConsoleBrowser;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: "sqlite::memory:", clock, env: MAIL_ENV });
    org = await administeredOrganisation(running.service, "Acme");
    other = await administeredOrganisation(running.service, "Beta");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const db = () => running.service.database.query;
  const orgId = () => org.organisation.id;
  const person = () => withUser(running.service, org, `person${++count}@acme.example`);
  const uri = (rest: string) => `${running.baseUrl}/oauth/manage/${orgId()}${rest}`;
  const newest = async () => (await listAuditEvents(db(), orgId(), 1))[0];
  const sessionsOf = (userId: string) =>
    db()
      .selectFrom("browser_session")
      .select("id")
      .where("user_id", "=", userId)
      .where("ended_at", "is", null)
      .execute();
  const signIn = async (own: TestOrganisation) => {
    const browser = testBrowser();
    await logIn(browser, own, await follow(browser, await browser.get(`${own.issuer}/account/security`)));
    return browser;
  };

  test("audits users created or invited as administrators", async () => {
    const person = { firstname: "Eve", surname: "New", role: "Administrator" };
    for (const how of ["mail", "password"]) {
      await here.send("/users/new", { ...person, email: `eve-${how}@acme.example`, how });
      assert.deepEqual((await newest())?.details, { role: "Administrator" }, how);
    }
    await here.send("/users/new", { ...person, role: "Standard", email: "eve@acme.example" });
    assert.deepEqual((await newest())?.details, {});
  });

  test("shows which sessions are bound to a machine, and the device that one ends with", async () => {
    const own = await person();
    for (let index = 0; index < 2; index++) await signIn(own);
    const shows = async () => {
      const { body } = await here.get(`/users/${own.user.id}/security`);
      return ["Device-bound session", "Ends with its device"].map((one) => body.split(one).length - 1);
    };
    assert.deepEqual(await shows(), [0, 0]);
    const [first, second] = await sessionsOf(own.user.id);
    const key = { orgId: orgId(), id: first?.id ?? "" };
    assert.ok(await bindSession(db(), { ...key, boundKey: "{}", now: clock() }));
    assert.deepEqual(await shows(), [1, 0]);
    const deviceId = crypto.randomUUID();
    for (const one of [first, second]) await setSessionDevice(db(), { ...key, id: one?.id ?? "", deviceId });
    assert.deepEqual(await shows(), [1, 2]);
    const { body } = await here.get(`/users/${own.user.id}/security`);
    assert.ok(body.includes(`href="/oauth/manage/${orgId()}/devices/${deviceId}"`));
  });

  test("ends one session, then all of them", async () => {
    const own = await person();
    const { id } = own.user;
    for (let index = 0; index < 3; index++) await signIn(own);
    const [first] = await sessionsOf(id);
    const page = await here.get(`/users/${id}/security`);
    assert.match(page.body, /127\.0\.0\.1/);
    const ended = await here.send(`/users/${id}/sessions/${first?.id}/end`);
    assert.equal(ended.location, uri(`/users/${id}/security?done=signedOut`));
    assert.equal((await sessionsOf(id)).length, 2);
    const event = await newest();
    assert.deepEqual(
      [event?.action, event?.target, event?.actor],
      ["user.session-ended", id, `user:${org.administrator.id}`],
    );
    const over = await here.get(`/users/${id}/sessions/${first?.id}/end`);
    assert.equal(over.location, uri(`/users/${id}/security?done=already`), "it is over");
    const [mine] = await sessionsOf(org.administrator.id);
    assert.equal((await here.get(`/users/${id}/sessions/${mine?.id}/end`)).status, 404, "somebody else's");
    await here.send(`/users/${id}/sign-out`);
    assert.equal((await sessionsOf(id)).length, 0);
    assert.equal((await newest())?.action, "user.signed-out-everywhere");
    assert.equal((await sessionsOf(org.administrator.id)).length, 1);
  });

  test("shows and resets second factors, and notifies the user", async () => {
    const own = await person();
    await giveAuthenticator(running.service, own);
    await giveRecoveryCodes(running.service, own);
    const page = await here.get(`/users/${own.user.id}/security`);
    assert.match(page.body, /10 of 10 unused/);
    await here.send(`/users/${own.user.id}/reset-factors`);
    const owner = { homeOrgId: orgId(), userId: own.user.id };
    assert.deepEqual(await findFactorSummary(db(), owner), { hasTotp: false, passkeys: 0, recoveryCodes: 0 });
    const event = await newest();
    assert.deepEqual([event?.action, Boolean(event?.address)], ["second-factors.reset", true]);
    const [mail] = await mailsTo(running.service, own.user.email);
    assert.equal(mail?.mail.template, "FactorRemoved");
    assert.ok(!JSON.stringify(mail).includes("127.0.0.1"), "where the administrator is, is not told");
  });

  test("sends a password reset link, or generates a password that is shown once and signs every browser out", async () => {
    const own = await person();
    const { id, email } = own.user;
    await here.send(`/users/${id}/password-reset`);
    assert.deepEqual(
      (await mailsTo(running.service, email)).map(({ mail }) => mail.template),
      ["ResetPassword"],
    );
    await signIn(own);
    const shown = await here.send(`/users/${id}/new-password`);
    assert.equal(shown.headers.get("cache-control"), "no-store");
    const password = textOf(shown, "new-password") ?? "";
    const found = await findUserByEmail(db(), orgId(), email);
    assert.ok(await running.service.passwords.verify(found?.passwordHash ?? "", password, ""));
    assert.equal((await sessionsOf(id)).length, 0);
    const event = await newest();
    assert.deepEqual([event?.action, event?.target, Boolean(event?.address)], ["password.set", id, true]);
    assert.ok(!(await here.get(`/users/${id}/security`)).body.includes(password));
  });

  test("sends an invitation again five times an hour", async () => {
    const email = "again@acme.example";
    await here.send("/users/new", {
      email,
      firstname: "Ina",
      surname: "Again",
      role: "Standard",
      locale: "",
    });
    const id = (await findUserByEmail(db(), orgId(), email))?.user.id ?? "";
    const again = () => here.send(`/users/${id}/invitation/again`);
    for (let sent = 0; sent < 5; sent++) assert.equal((await again()).status, 303);
    assert.match((await again()).body, /Too many requests/);
    assert.equal((await mailsTo(running.service, email)).length, 6);
  });

  test("does not invite a user who has a password", async () => {
    const { id, email } = (await person()).user;
    for (const act of ["again", "withdraw"])
      assert.equal(
        (await here.send(`/users/${id}/invitation/${act}`)).location,
        uri(`/users/${id}?done=already`),
        act,
      );
    assert.deepEqual(await mailsTo(running.service, email), []);
    assert.equal((await newest())?.action, "user.created");
  });

  test("a consent is taken back, and nobody else's", async () => {
    const own = await person();
    const applicationId = org.web.application.id;
    const grant = {
      orgId: orgId(),
      applicationId,
      scopes: ["openid"],
      fingerprints: {},
      definitions: {},
      now: clock(),
    };
    const id = await grantUserConsent(db(), { ...grant, userId: own.user.id });
    const others = await grantUserConsent(db(), { ...grant, userId: org.user.id });
    assert.match((await here.get(`/users/${own.user.id}/access`)).body, new RegExp(`id="consent-${id}"`));
    assert.equal((await here.get(`/users/${own.user.id}/consents/${others}/revoke`)).status, 404);
    await here.send(`/users/${own.user.id}/consents/${id}/revoke`);
    assert.deepEqual(await listUserConsents(db(), { orgId: orgId(), userId: own.user.id }), []);
    assert.equal((await listUserConsents(db(), { orgId: orgId(), userId: org.user.id })).length, 1);
    const again = await here.get(`/users/${own.user.id}/consents/${id}/revoke`);
    assert.equal(again.location, uri(`/users/${own.user.id}/access?done=already`));
    assert.equal((await here.get(`/users/${org.user.id}/consents/${id}/revoke`)).status, 404);
  });

  test("of two concurrent submissions one disables, and the other reports that it was already done", async () => {
    const { id } = (await person()).user;
    const form = formOfPage(await here.get(`/users/${id}/disable`));
    const press = () => here.post(`/users/${id}/disable`, form);
    const places = (await Promise.all([press(), press()])).map(({ location }) => location).sort();
    assert.deepEqual(
      places,
      ["already", "disabled"].map((done) => uri(`/users/${id}/advanced?done=${done}`)),
    );
    const again = { orgId: orgId(), id, disabled: true, actor: "operator" };
    assert.equal(await setUserStatus(running.service, again), false);
    const events = (await listAuditEvents(db(), orgId(), 20)).filter(({ target }) => target === id);
    assert.deepEqual(
      events.map(({ action }) => action).filter((action) => action !== "user.created"),
      ["user.disabled"],
    );
  });

  test("disables, enables and deletes a user, deletion after typing the address", async () => {
    const own = await person();
    const { id, email } = own.user;
    await signIn(own);
    await here.send(`/users/${id}/disable`);
    assert.equal((await sessionsOf(id)).length, 0);
    const event = await newest();
    assert.deepEqual([event?.action, Boolean(event?.address)], ["user.disabled", true]);
    const before = `/users/${id}/advanced?done=already`;
    assert.equal((await here.get(`/users/${id}/disable`)).location, uri(before), "it is done");
    const told =
      /id="done-notice"[^>]*>(?:<svg.*?<\/svg>)?<p[^>]*>Nothing was changed: this had already been done\.</;
    assert.match((await here.get(before)).body, told);
    assert.match((await here.get("/users?state=disabled")).body, new RegExp(`id="user-${id}"`));
    await here.send(`/users/${id}/enable`);
    assert.equal((await findUser(db(), orgId(), id))?.disabledAt, null);
    const wrong = await here.send(`/users/${id}/delete`, { name: "person" });
    assert.equal(wrong.status, 400);
    assert.match(wrong.body, /The text doesn’t match/);
    const gone = await here.send(`/users/${id}/delete`, { name: ` ${email} ` });
    assert.equal(gone.location, uri("/users?done=deleted"));
    assert.equal(await findUser(db(), orgId(), id), undefined);
    assert.equal((await here.get(`/users/${id}`)).status, 404);
  });

  test("rejects forms without a CSRF token, and keeps what was typed without a recent sign-in", async () => {
    const own = await person();
    const { id } = own.user;
    const page = await here.get(`/users/${id}/edit`);
    const before = await findUser(db(), orgId(), id);
    const forms = {
      edit: { firstname: "Changed" },
      address: { newEmail: "x@acme.example", known: "on" },
      disable: {},
    };
    for (const [act, form] of Object.entries(forms)) {
      const forged = await here.post(`/users/${id}/${act}`, { ...form, csrf: "forged" });
      assert.equal(forged.status, 403, act);
    }
    const forged = await here.post("/users/new", {
      email: "new@acme.example",
      how: "password",
      csrf: "forged",
    });
    assert.equal(forged.status, 403);
    clock.advance(11 * 60_000);
    const late = await here.post(`/users/${id}/edit`, formOfPage(page, { firstname: "Kept" }));
    assert.equal(late.status, 403);
    assert.match(late.body, /id="prove-go-on"/);
    assert.equal(formOfPage(late).get("firstname"), "Kept");
    assert.deepEqual(await findUser(db(), orgId(), id), before);
    here = await consoleBrowser(running, org);
  });

  test("answers 404 for another organisation's users", async () => {
    const theirs = other.user.id;
    for (const rest of [
      "",
      "/security",
      "/access",
      "/activity",
      "/advanced",
      "/edit",
      "/address",
      "/disable",
      "/delete",
      "/sign-out",
      "/new-password",
      "/invitation/again",
    ])
      assert.equal((await here.get(`/users/${theirs}${rest}`)).status, 404, rest);
    const { csrf = "" } = (await here.get("/users/new")).hidden;
    for (const rest of ["/edit", "/address", "/disable", "/sign-out", "/new-password", "/reset-factors"])
      assert.equal(
        (await here.post(`/users/${theirs}${rest}`, { csrf, role: "Administrator" })).status,
        404,
        rest,
      );
    assert.equal((await findUser(db(), other.organisation.id, theirs))?.disabledAt, null);
  });

  test("refuses to disable, delete or remove the last administrator who can sign in", async () => {
    const own = await administeredOrganisation(running.service, "Gamma");
    const there = await consoleBrowser(running, own);
    const membership = { orgId: own.organisation.id, role: "Administrator", now: clock() } as const;
    const { organisation, user } = await withUser(running.service, own, "boss@gamma.example");
    await db()
      .updateTable("membership")
      .set({ role: "Administrator" })
      .where("user_id", "=", user.id)
      .execute();
    // As one who came in with a passkey and a link: a session, and no password to come back with.
    await db()
      .updateTable("user_account")
      .set({ password_hash: null })
      .where("id", "=", own.administrator.id)
      .execute();
    const refused = async (act: string, id: string, typed = {}) => {
      const page = await there.send(`/users/${id}/${act}`, typed);
      assert.equal(page.status, 409, act);
      assert.match(page.body, /last administrator/i, act);
      assert.equal((await findUser(db(), organisation.id, id))?.disabledAt, null, act);
    };
    await refused("disable", user.id);
    await refused("delete", user.id, { name: "boss@gamma.example" });
    await insertMembership(db(), { ...membership, userId: other.user.id, homeOrgId: other.organisation.id });
    assert.match(
      (await there.send(`/users/${user.id}/disable`)).location ?? "",
      /done=disabled$/,
      "there is one more",
    );
    await refused("remove", other.user.id, { name: other.user.email });
  });
});

test("offers only a generated password without mail", async () => {
  const running = await startTestService({ databaseUrl: "sqlite::memory:" });
  try {
    const org = await administeredOrganisation(running.service, "Acme");
    const here = await consoleBrowser(running, org);
    const page = await here.get("/users/new");
    assert.match(page.body, /id="no-mail"/);
    assert.doesNotMatch(page.body, /name="how"/);
    const made = await here.send("/users/new", { email: "nora@acme.example", how: "mail" });
    assert.ok((textOf(made, "new-password") ?? "").length >= 20);
    const { id } = org.user;
    const { body } = await here.get(`/users/${id}/security`);
    assert.match(body, /id="password-new"/);
    assert.doesNotMatch(body, /id="password-reset"/);
    assert.equal((await here.get(`/users/${id}/password-reset`)).status, 404);
    const asked = await here.send(`/users/${id}/address`, { newEmail: "n@acme.example", known: undefined });
    assert.equal(asked.status, 400);
    assert.match(asked.body, /id="known-fault"/);
  } finally {
    await running.close();
  }
});
