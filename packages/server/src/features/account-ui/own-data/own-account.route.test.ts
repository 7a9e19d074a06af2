/** Profile, email address, password, activity, export and deletion, through the browser. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { changeProfile } from "../../../core/users/profile/profile.ts";
import { findUser, insertMembership } from "../../../core/users/users.store.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { codeSource } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo, newestLink } from "../../../testing/fakes/mailbox.ts";
import { refresh } from "../../../testing/fixtures/client.ts";
import { giveAuthenticator, showsTwoFactor } from "../../../testing/fixtures/factors.ts";
import {
  follow,
  logIn,
  sessionCookie,
  showsLogin,
  visit,
  withUser,
} from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const MINUTE = 60_000;
const NEXT = "another plum tractor";

let clock: FakeClock;
let running: TestService;
let home: TestOrganisation;
let host: TestOrganisation;
let org: TestOrganisation;
let count = 0;
before(async () => {
  clock = fakeClock();
  const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS: "password-account=3/900,data-export=2/3600" };
  running = await startTestService({ databaseUrl: "sqlite::memory:", clock, env });
  home = await makeOrganisation(running.service);
  host = await makeOrganisation(running.service, "Host");
});
after(async () => {
  assert.deepEqual(running.errors, []);
  await running.close();
});
beforeEach(async () => {
  clock.advance(60 * MINUTE);
  org = await withUser(running.service, home, `owner${++count}@acme.example`);
});

const db = () => running.service.database.query;
const url = (rest: string, where = org) => `${where.issuer}/account/${rest}`;
const open = async (browser: TestBrowser, rest: string, where = org) =>
  follow(browser, await browser.get(url(rest, where)));
const send = async (browser: TestBrowser, rest: string, form: Record<string, string>, where = org) =>
  follow(browser, await browser.post(url(rest, where), form));
const user = () => findUser(db(), org.organisation.id, org.user.id);
const typedIn = ({ body }: TestPage, name: string) =>
  new RegExp(`name="${name}"[^>]* value="([^"]*)"`).exec(body)?.[1];
const actions = async (where = org) =>
  (await listAuditEvents(db(), where.organisation.id, 40))
    .filter(({ target }) => target === org.user.id)
    .map(({ action }) => action);

async function signedIn(rest = "profile", where = org): Promise<TestBrowser> {
  const browser = testBrowser();
  const page = await logIn(browser, { ...org, issuer: where.issuer }, await open(browser, rest, where));
  assert.equal(page.url.split("?")[0], url(rest, where));
  return browser;
}
const asGuest = async (role: "Standard" | "Administrator" = "Standard") => {
  const roaming = { orgId: host.organisation.id, userId: org.user.id, homeOrgId: org.organisation.id };
  await insertMembership(db(), { ...roaming, role, now: clock() });
  return signedIn("profile", host);
};
const set = (settings: Parameters<typeof changeOrganisationSettings>[1]["settings"]) =>
  changeOrganisationSettings(running.service, { orgId: org.organisation.id, settings, actor: "test" });

const pages = ["profile", "address", "password", "activity", "data", "deletion"];

test("every page requires a session, and rejects cross-origin forms", async () => {
  for (const rest of pages) assert.ok(showsLogin(await open(testBrowser(), rest)), rest);
  const browser = await signedIn();
  for (const rest of ["profile", "address", "password", "data/export", "deletion"]) {
    const refused = await send(browser, rest, { name: org.user.email, present: PASSWORD, password: NEXT });
    assert.equal(refused.status, 403, rest);
  }
  assert.ok(await user());
});

test("protected pages require authentication within ten minutes, and the second factor", async () => {
  const browser = await signedIn();
  clock.advance(11 * MINUTE);
  for (const rest of ["address", "password", "deletion", "data/export"])
    assert.ok(showsLogin(await open(browser, rest)), rest);
  assert.equal((await open(browser, "profile")).status, 200);
  const fresh = await signedIn();
  await giveAuthenticator(running.service, org);
  for (const rest of ["address", "password", "deletion", "data/export"])
    assert.ok(showsTwoFactor(await open(fresh, rest)), rest);
});

test("saves the profile and the page language, and reports invalid fields", async () => {
  const browser = await signedIn();
  const page = await open(browser, "profile");
  const form = { ...page.hidden, firstname: "Ada", surname: "Lovelace", phone: "+45 12 34", locale: "de" };
  const bad = await send(browser, "profile", { ...form, phone: "call me" });
  assert.equal(bad.status, 400);
  assert.match(
    bad.body,
    /id="phone"[^>]*aria-describedby="phone-fault"[^>]*aria-invalid="true"[^>]*autofocus/,
  );
  assert.equal(typedIn(bad, "phone"), "call me");
  assert.equal((await send(browser, "profile", { ...form, locale: "tlh" })).status, 400);
  const saved = await send(browser, "profile", form);
  assert.match(saved.body, /<html lang="de">/);
  assert.match(saved.body, /Profil gespeichert/);
  const stored = await user();
  assert.deepEqual(
    [stored?.firstname, stored?.surname, stored?.phone, stored?.locale],
    ["Ada", "Lovelace", "+45 12 34", "de"],
  );
  const [event] = (await listAuditEvents(db(), org.organisation.id, 5)).filter(
    ({ action }) => action === "user.profile-changed",
  );
  assert.deepEqual(event?.details, { changed: ["firstname", "surname", "phone", "locale"] });
  // The second of two tabs has an outdated version.
  const late = await send(browser, "profile", { ...form, surname: "Byron" });
  assert.equal(late.status, 409);
  assert.equal(typedIn(late, "surname"), "Byron");
  assert.match(late.body, /id="surname-now">[^<]*Lovelace/);
  assert.doesNotMatch(late.body, /id="(firstname|phone|locale)-now"/, "only what differs");
  assert.match(
    late.body,
    /in einem anderen Fenster geändert<\/p>\n<p>Die andere Änderung wurde am [^<]* UTC/,
  );
  assert.equal((await user())?.surname, "Lovelace");
});

test("a concurrent change is reported with its time, without naming the administrator", async () => {
  const browser = await signedIn();
  const { hidden } = await open(browser, "profile");
  const form = { ...hidden, firstname: "Ada", surname: "Otto", phone: "", locale: "" };
  const changed = { firstname: "Eva", surname: "Otto", phone: null, locale: null };
  for (const [actor, words] of [
    [`user:${home.user.id}`, "an administrator"],
    ["operator", "the operator"],
  ] as const) {
    const change = { orgId: org.organisation.id, id: org.user.id, actor };
    await changeProfile(running.service, { ...change, profile: { ...changed, surname: words } });
    const late = await send(browser, "profile", form);
    assert.equal(late.status, 409);
    assert.match(late.body, new RegExp(`Changed by ${words} on [^<]* UTC`));
    assert.ok(!late.body.includes(home.user.email));
    assert.match(late.body, /id="firstname-now">[^<]*Eva/);
  }
});

test("a guest's profile links the home organisation and can't be changed here", async () => {
  const browser = await asGuest();
  const page = await open(browser, "profile", host);
  assert.match(page.body, new RegExp(`id="guest-home" href="/oauth/${org.organisation.id}/account/profile"`));
  const { csrf = "" } = (await open(browser, "data", host)).hidden;
  await send(browser, "profile", { csrf, firstname: "Eve", seen: "" }, host);
  assert.equal((await user())?.firstname, "Otto");
  for (const rest of ["address", "password"])
    assert.equal((await open(browser, rest, host)).url, url("security", host), rest);
});

test("the new email address applies when its link is used, and the old one is notified", async () => {
  const browser = await signedIn();
  const page = await open(browser, "address");
  assert.equal((await send(browser, "address", { ...page.hidden, newEmail: "nonsense" })).status, 400);
  const to = `new${count}@acme.example`;
  const sent = await send(browser, "address", { ...page.hidden, newEmail: to });
  assert.match(sent.body, /id="address-sent"/);
  assert.equal((await user())?.email, org.user.email);
  const link = await newestLink(running.service, to);
  const confirmation = await follow(browser, await browser.get(link));
  await browser.post(confirmation.url, confirmation.hidden);
  assert.equal((await user())?.email, to);
  const notices = await mailsTo(running.service, org.user.email);
  assert.ok(notices.some(({ mail }) => mail.template === "EmailChanged"));
});

test("changing the password invalidates a pending email change", async () => {
  const thief = await signedIn();
  const to = `thief${count}@elsewhere.example`;
  const { hidden } = await open(thief, "address");
  assert.equal((await send(thief, "address", { ...hidden, newEmail: to })).status, 200);
  const browser = await signedIn("password");
  const page = await open(browser, "password");
  await send(browser, "password", { ...page.hidden, present: org.user.password, password: NEXT });
  assert.ok((await actions()).includes("password.changed"));
  const confirmation = await follow(thief, await thief.get(await newestLink(running.service, to)));
  await thief.post(confirmation.url, confirmation.hidden);
  assert.equal((await user())?.email, org.user.email);
});

test("requesting a taken address gets the same response and sends no email", async () => {
  const browser = await signedIn();
  const ask = async (newEmail: string) =>
    send(browser, "address", { ...(await open(browser, "address")).hidden, newEmail });
  const taken = await ask(home.user.email);
  const free = await ask(`free${count}@acme.example`);
  const plain = ({ body }: TestPage) => body.replaceAll(/[\w-]+@acme\.example|nonce="[^"]*"/g, "");
  assert.equal(plain(taken), plain(free));
  const mails = await mailsTo(running.service, home.user.email);
  assert.ok(mails.every(({ mail }) => mail.template !== "ChangeEmail"));
  for (let sent = 0; sent < 5; sent++) await ask(`x${sent}@b.example`);
  assert.equal((await ask("y@b.example")).status, 429);
});

test("changing the password ends all sessions except this browser's, which gets a new one", async () => {
  const other = codeSource(org);
  const { refreshToken } = await other.tokens();
  const browser = await signedIn("password");
  const before = sessionCookie(browser, org);
  const page = await open(browser, "password");
  const form = { ...page.hidden, present: org.user.password, password: NEXT };
  const done = await send(browser, "password", form);
  assert.equal(done.url.split("?")[0], url("security"));
  assert.match(done.body, /id="security-done"/);
  assert.notDeepEqual(sessionCookie(browser, org), before);
  assert.equal((await open(browser, "profile")).status, 200);
  assert.ok(showsLogin(await open(other.browser, "profile")));
  assert.equal((await refresh(org, refreshToken)).status, 400);
  assert.ok((await actions()).includes("password.changed"));
  const mails = await mailsTo(running.service, org.user.email);
  assert.ok(mails.some(({ mail }) => mail.template === "PasswordChanged"));
  const otherBrowser = testBrowser();
  assert.ok(showsLogin(await logIn(otherBrowser, org, await open(otherBrowser, "profile"))));
  const profilePage = await logIn(otherBrowser, org, await open(otherBrowser, "profile"), { password: NEXT });
  assert.equal(profilePage.url, url("profile"));
});

test("rejects a wrong current password, an unchanged one and a weak one, and limits wrong ones", async () => {
  const browser = await signedIn("password");
  const { hidden } = await open(browser, "password");
  const change = (present: string, password = NEXT) =>
    send(browser, "password", { ...hidden, present, password });
  const weak = await change(PASSWORD, "short");
  assert.equal(weak.status, 400);
  assert.match(weak.body, /id="password-fault"/);
  assert.doesNotMatch(weak.body, /value="short"/);
  assert.equal((await change(PASSWORD, PASSWORD)).status, 400);
  for (let guess = 0; guess < 3; guess++) {
    const wrong = await change("wrong password here");
    assert.equal(wrong.status, 400);
    assert.match(wrong.body, /id="present-fault"/);
  }
  const limited = await change(PASSWORD);
  assert.equal(limited.status, 429);
  assert.ok(Number(limited.headers.get("retry-after")) > 0);
  assert.ok(!(await actions()).includes("password.changed"));
});

test("an account without a password can set one", async () => {
  const browser = await signedIn("password");
  await db()
    .updateTable("user_account")
    .set({ password_hash: null, password_changed_at: null })
    .where("id", "=", org.user.id)
    .execute();
  const page = await open(browser, "password");
  assert.doesNotMatch(page.body, /id="present"/);
  const done = await send(browser, "password", { ...page.hidden, password: NEXT });
  assert.match(done.body, /id="security-done"/);
  assert.ok((await actions()).includes("password.set"));
});

test("activity is paginated, with the user's own IP addresses and no one else's", async () => {
  const browser = await signedIn("activity");
  const event = { orgId: org.organisation.id, action: "password.set", details: "{}", seq: null, hash: null };
  const rows = Array.from({ length: 30 }, (_, index) => ({
    ...event,
    id: `00000000-0000-7000-8000-0000000000${String(index).padStart(2, "0")}`,
  }));
  for (const { id } of rows)
    await db()
      .insertInto("audit_event")
      .values({
        ...{ org_id: org.organisation.id, id, at: clock() - MINUTE, actor: `user:${home.user.id}` },
        ...{ action: "user.enabled", target: org.user.id, address: "198.51.100.99", details: "{}" },
        ...{ seq: null, hash: null, is_change: 1 },
      })
      .execute();
  const first = await open(browser, "activity");
  assert.match(first.body, /Signed in/);
  assert.match(first.body, /127\.0\.0\.1/);
  assert.equal(first.body.match(/id="event-\d+"/g)?.length, 25);
  assert.doesNotMatch(first.body, /198\.51\.100\.99/);
  assert.ok(!first.body.includes(home.user.email));
  const older = /id="page-older" href="([^"]+)"/.exec(first.body)?.[1] ?? "";
  const second = await browser.get(new URL(older.replaceAll("&amp;", "&"), first.url).href);
  assert.match(second.body, /User enabled/);
  assert.match(second.body, /id="not-me-act" href="[^"]*account\/password\?because=not-me"/);
  const alarm = await open(browser, "password?because=not-me");
  assert.match(alarm.body, /id="password-alarm"/);
});

test("the export has all of the user's data, no secrets and no other user; it is audited and rate limited", async () => {
  const source = codeSource(org);
  const { refreshToken } = await source.tokens();
  const app = await giveAuthenticator(running.service, org);
  await db().deleteFrom("totp_credential").where("user_id", "=", org.user.id).execute();
  const browser = await signedIn("data");
  const { hidden } = await open(browser, "data");
  const answer = await browser.post(url("data/export"), hidden);
  assert.equal(answer.status, 200);
  assert.match(
    answer.headers.get("content-disposition") ?? "",
    /attachment; filename="signet-account-data\.json"/,
  );
  const data = JSON.parse(answer.body) as Record<string, unknown> & { events: { action: string }[] };
  assert.equal((data["account"] as { email: string }).email, org.user.email);
  for (const member of ["memberships", "sessions", "consents", "tokens", "mails", "secondFactors"])
    assert.ok(data[member] !== undefined, member);
  assert.ok(data.events.some(({ action }) => action === "session.started"));
  assert.ok(data.events.some(({ action }) => action === "user.data-exported"));
  for (const secret of [refreshToken, app.secret, PASSWORD, home.user.email, home.user.id, "hash", "argon2"])
    assert.ok(!answer.body.includes(secret), secret);
  assert.equal((await browser.post(url("data/export"), hidden)).status, 200);
  assert.equal((await browser.post(url("data/export"), hidden)).status, 429);
  assert.equal((await actions()).filter((action) => action === "user.data-exported").length, 2);
});

test("deletes the account and its session when the email address is typed", async () => {
  const browser = await signedIn("deletion");
  const page = await open(browser, "deletion");
  const wrong = await send(browser, "deletion", { ...page.hidden, name: "somebody@acme.example" });
  assert.equal(wrong.status, 400);
  assert.match(wrong.body, /id="name-fault"/);
  const gone = await send(browser, "deletion", { ...page.hidden, name: ` ${org.user.email.toUpperCase()} ` });
  assert.equal(gone.url, url("gone"));
  assert.match(gone.body, /Account deleted/);
  assert.equal(await user(), undefined);
  assert.ok(showsLogin(await open(browser, "profile")));
  assert.ok((await actions()).includes("user.deleted"));
});

test("the last administrator can't delete the account", async () => {
  await db()
    .updateTable("membership")
    .set({ role: "Administrator" })
    .where("user_id", "=", org.user.id)
    .execute();
  const browser = await signedIn("deletion");
  const { hidden } = await open(browser, "deletion");
  const refused = await send(browser, "deletion", { ...hidden, name: org.user.email });
  assert.equal(refused.status, 409);
  assert.match(refused.body, /You are the only administrator/);
  assert.ok(await user());
  await db().updateTable("membership").set({ role: "Standard" }).where("user_id", "=", org.user.id).execute();
});

test("users can't delete their account if the organisation forbids it", async () => {
  await set({ allowAccountDeletion: false });
  try {
    const browser = await signedIn("data");
    const page = await open(browser, "data");
    assert.doesNotMatch(page.body, /id="account-delete"/);
    const tried = await send(browser, "deletion", { ...page.hidden, name: org.user.email });
    assert.equal(tried.url, url("data"));
    assert.ok(await user());
  } finally {
    await set({ allowAccountDeletion: true });
  }
});

test("guests can leave but not delete; members can't leave", async () => {
  const browser = await asGuest();
  const page = await open(browser, "data", host);
  const { hidden } = page;
  const tried = await send(browser, "deletion", { ...hidden, name: org.user.email }, host);
  assert.equal(tried.url, url("data", host));
  const exported = JSON.parse((await browser.post(url("data/export", host), hidden)).body) as object;
  assert.ok(!("secondFactors" in exported));
  const left = await send(browser, "leave", (await open(browser, "leave", host)).hidden, host);
  assert.match(left.body, /You have left Host/);
  assert.ok(await user());
  assert.equal(await findUser(db(), host.organisation.id, org.user.id), undefined);
  const atHome = await signedIn("data");
  assert.equal((await open(atHome, "leave")).url, url("data"));
});

test("the user's language applies after sign-in, and ui_locales overrides it", async () => {
  await db().updateTable("user_account").set({ locale: "fr" }).where("id", "=", org.user.id).execute();
  const browser = testBrowser();
  const page = await open(browser, "sessions");
  assert.match(page.body, /<html lang="en">/, "Accept-Language applies before sign-in");
  assert.match((await logIn(browser, org, page)).body, /<html lang="fr">/);
  assert.match((await visit(browser, org)).body, /<html lang="fr">/, "the consent page");
  assert.match((await visit(browser, org, { more: { ui_locales: "da" } })).body, /<html lang="da">/);
});
