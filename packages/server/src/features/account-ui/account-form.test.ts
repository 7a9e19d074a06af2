// Every form of the account pages: rejects cross-origin submissions, shows an expired form again with its input, and
// holds a form while the user reauthenticates, without its secrets.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { insertMembership } from "../../core/users/users.store.ts";
import { demands } from "../../page-kit/recent-sign-in.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../testing/fakes/mailbox.ts";
import {
  appOfPage,
  giveAuthenticator,
  showFactor,
  showsRecoveryCodes,
} from "../../testing/fixtures/factors.ts";
import { follow, logIn, showsLogin, withUser } from "../../testing/fixtures/visit.ts";
import { accountProbes } from "../../testing/probes/account-probes.ts";
import { consentProbes } from "../../testing/probes/consent-probes.ts";
import { formOfPage, plain } from "../../testing/probes/console-browser.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const MINUTE = 60_000;
const NEXT = "another plum tractor";
const TYPED = "typed@by.example";

interface Form {
  readonly fields?: Readonly<Record<string, string>>;
  /** Fields that never appear in a page. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly by?: "guest" | "user with a second factor";
}

const forms: Readonly<Record<string, Form>> = {
  "account/profile": {
    fields: { firstname: TYPED, surname: "S", phone: "", locale: "" },
  },
  "account/address": { fields: { newEmail: TYPED } },
  "account/password": { secrets: { present: PASSWORD, password: NEXT } },
  "account/data/export": {},
  "account/deletion": { fields: { name: TYPED } },
  "account/leave": { by: "guest" },
  "account/sessions/end": {},
  "account/security/authenticator": { secrets: { enrolment: "sealed-secret", code: "123456" } },
  "account/security/authenticator/removal": {},
  "account/security/passkeys": { fields: { name: TYPED }, secrets: { passkey: '{"id":"an-answer"}' } },
  "account/security/passkey": { fields: { id: "x", change: "name", name: TYPED } },
  "account/security/recovery-codes": { by: "user with a second factor" },
  "account/security/browsers": {},
  "account/security/connection": {},
  "user/consents/:id/revoke": {},
};
/** Forms of a record that doesn't exist here: they return 404 instead of the form. */
const recordForms = ["account/security/passkey", "account/security/connection", "user/consents/:id/revoke"];

let clock: FakeClock;
let running: TestService;
let home: TestOrganisation;
let host: TestOrganisation;
let org: TestOrganisation;
let count = 0;
before(async () => {
  clock = fakeClock();
  running = await startTestService({ databaseUrl: "sqlite::memory:", clock, env: MAIL_ENV });
  home = await makeOrganisation(running.service);
  host = await makeOrganisation(running.service, "Host");
});
after(async () => {
  await running.close();
  assert.deepEqual(running.errors, []);
});
beforeEach(() => clock.advance(60 * MINUTE));

const db = () => running.service.database.query;
/** Audit actions of users in the last half hour, without sessions. */
const recentActions = async () =>
  (await listAuditEvents(db(), home.organisation.id, 100))
    .filter(
      ({ actor, action, at }) =>
        actor.startsWith("user:") && !action.startsWith("session.") && at > clock() - 30 * MINUTE,
    )
    .map(({ action }) => action);

/** Signs in or reauthenticates at account/confirm-identity. */
async function signIn(browser: TestBrowser, issuer = org.issuer): Promise<TestPage> {
  const page = await follow(browser, await browser.get(`${issuer}/account/confirm-identity`));
  if (!showsLogin(page)) return page;
  return logIn(browser, { ...org, issuer }, page);
}

/** @returns a signed-in browser that may submit the form, and the form's address */
async function prepareSender(path: string, { by }: Form): Promise<{ browser: TestBrowser; url: string }> {
  org = await withUser(running.service, home, `sender${++count}@acme.example`);
  const browser = testBrowser();
  const url = (issuer: string) => `${issuer}/${path.replace(":id", org.user.id)}`;
  if (by === "guest") {
    const roaming = { orgId: host.organisation.id, userId: org.user.id, homeOrgId: org.organisation.id };
    await insertMembership(db(), { ...roaming, role: "Standard", now: clock() });
    await signIn(browser, host.issuer);
    return { browser, url: url(host.issuer) };
  }
  const app = by === undefined ? undefined : await giveAuthenticator(running.service, org);
  const page = await signIn(browser);
  if (app) await showFactor(browser, org, page, { code: app.code(clock()) });
  return { browser, url: url(org.issuer) };
}

test("the table covers every form of the account pages", () => {
  // organisation-isolation.test.ts compares the probes with the registered routes.
  const posts = Object.keys({ ...accountProbes, ...consentProbes }).filter((route) =>
    /^POST .*:org\/(account|user\/consents)\//.test(route),
  );
  assert.deepEqual(
    posts.map((route) => route.replace("POST /oauth/:org/", "")).sort(),
    Object.keys(forms).sort(),
  );
});

for (const [path, form] of Object.entries(forms)) {
  const { fields = {}, secrets = {} } = form;
  const sent = { ...fields, ...secrets };
  const hasNoSecret = ({ body }: TestPage) =>
    Object.values(secrets).every((secret) => !plain(body).includes(secret));

  test(`${path}: rejects cross-origin, shows an expired form again, requires recent authentication`, async () => {
    const { browser, url } = await prepareSender(path, form);
    for (const from of [browser, testBrowser()]) {
      const foreign = await from.post(url, { ...sent, newEmail: TYPED }, { "sec-fetch-site": "cross-site" });
      assert.equal(foreign.status, 403);
      assert.doesNotMatch(foreign.body, /name="(csrf|kept|flow)"|typed@by/);
    }
    const old = await browser.post(url, { csrf: "old", ...sent });
    assert.equal(old.status, recordForms.includes(path) ? 404 : 403);
    if (old.status === 403) {
      assert.match(old.body, /has expired/);
      if (Object.values(fields).includes(TYPED)) assert.match(old.body, /value="typed@by/);
      assert.ok(hasNoSecret(old));
    }
    const { csrf = "" } = (await browser.get(pageWithForms(url))).hidden;
    if (path.startsWith("account/")) {
      const odd = await browser.post(url, { csrf, ...sent, odd: "no\0text" });
      assert.equal(odd.status, recordForms.includes(path) ? 404 : 403);
      if (odd.status === 403) assert.match(odd.body, /This form contains unreadable characters/);
      if (odd.status === 403 && Object.values(fields).includes(TYPED))
        assert.match(odd.body, /value="typed@by/);
      assert.ok(hasNoSecret(odd));
    }
    clock.advance(11 * MINUTE);
    const late = await browser.post(url, { csrf, ...sent });
    const isRecentNeeded = demands.get(`/oauth/:org/${path}`) === "recent";
    assert.equal(late.body.includes('id="prove-go-on"'), isRecentNeeded);
    assert.ok(late.status < 500);
    if (isRecentNeeded) {
      const { csrf: _, kept, ...input } = late.hidden;
      assert.equal(late.status, 403);
      assert.ok(kept);
      assert.deepEqual(input, fields);
      assert.ok(hasNoSecret(late));
      assert.equal(/except passwords and codes/.test(late.body), form.secrets !== undefined);
      assert.match(late.body, /id="prove-sign-in"[^>]* href="[^"]*\/account\/confirm-identity"/);
      assert.deepEqual(await recentActions(), []);
    }
  });
}

/** Every account page carries the same CSRF token. */
const pageWithForms = (url: string): string => url.replace(/\/(account|user)\/.*/, "/account/data");

test("a waiting form succeeds only after reauthentication, and only at its own address", async () => {
  const { browser, url } = await prepareSender("account/address", {});
  const form = formOfPage(await browser.get(url), { newEmail: `next${count}@acme.example` });
  clock.advance(11 * MINUTE);
  const waiting = formOfPage(await browser.post(url, form));
  assert.equal((await browser.post(url, waiting)).status, 403, "before reauthentication");
  const confirmed = await signIn(browser);
  assert.match(confirmed.body, /id="identity-confirmed"/);
  assert.match(confirmed.body, /id="confirmed-home" href="\/oauth\/[\w-]+\/account"/);
  assert.match((await browser.post(url, waiting)).body, /id="address-sent"/);
  const mails = await mailsTo(running.service, `next${count}@acme.example`);
  assert.equal(mails.length, 1);
  waiting.delete("csrf");
  const deletion = await browser.post(`${org.issuer}/account/deletion`, waiting);
  assert.match(deletion.body, /has expired/, "rejected at another form's address");
});

test("the password form is shown again after reauthentication, without passwords", async () => {
  const { browser, url } = await prepareSender("account/password", {});
  const form = formOfPage(await browser.get(url), { present: PASSWORD, password: NEXT });
  clock.advance(11 * MINUTE);
  const waiting = formOfPage(await browser.post(url, form));
  await signIn(browser);
  const page = await browser.post(url, waiting);
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.body, /-fault"/);
  assert.ok(!(await recentActions()).includes("password.changed"));
  const done = await browser.post(url, formOfPage(page, { present: PASSWORD, password: NEXT }));
  assert.equal(done.status, 303);
  assert.ok((await recentActions()).includes("password.changed"));
});

test("the passkey form keeps its name after reauthentication", async () => {
  const { browser, url } = await prepareSender("account/security/passkeys", {});
  const form = formOfPage(await browser.get(url), { name: "My key", passkey: "{}" });
  clock.advance(11 * MINUTE);
  const waiting = formOfPage(await browser.post(url, form));
  await signIn(browser);
  const page = await browser.post(url, waiting);
  assert.equal(page.status, 200);
  assert.match(page.body, /id="name"[^>]* value="My key"/);
});

test("the authenticator setup keeps its secret after reauthentication", async () => {
  const { browser, url } = await prepareSender("account/security/authenticator", {});
  const first = await browser.get(url);
  const app = appOfPage(first);
  clock.advance(11 * MINUTE);
  const late = await browser.post(url, formOfPage(first, { code: app.code(clock()) }));
  assert.ok(!late.body.includes(app.secret));
  const premature = await browser.post(url, formOfPage(late));
  assert.equal(premature.status, 403, "before reauthentication");
  await signIn(browser);
  const page = await browser.post(url, formOfPage(premature));
  assert.equal(page.status, 200);
  assert.equal(appOfPage(page).secret, app.secret);
  const done = await browser.post(url, formOfPage(page, { code: app.code(clock()) }));
  assert.ok(showsRecoveryCodes(done));
});

test("a user with a second factor must present it", async () => {
  const { browser, url } = await prepareSender("account/address", {});
  const form = formOfPage(await browser.get(url), { newEmail: `next${count}@acme.example` });
  await giveAuthenticator(running.service, org);
  const waiting = await browser.post(url, form);
  assert.match(waiting.body, /id="prove-go-on"/);
  assert.deepEqual(await recentActions(), []);
});
