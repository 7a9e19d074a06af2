import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { insertGroup } from "../../../core/groups/groups.store.ts";
import { createGroup } from "../../../core/groups/groups.ts";
import { createUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo, newestLinkPage } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { newSignInConnection } from "../../../testing/fixtures/sign-in-connection.ts";
import { follow, logIn, showsConsent, visit } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const DAY_MS = 86_400_000;
const TERMS = { version: "2026-11", url: "https://acme.example/terms" };

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let api: ApiClient;
  let browser: TestBrowser;
  let made = 0;
  before(async () => {
    clock = fakeClock();
    const options = { clock, passwords: quickPasswords, env: MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), ...options });
  });
  beforeEach(async () => {
    org = await makeOrganisation(running.service, `Org${made++}`);
    api = await makeApiClient(running.service, org, ["signet:organisation:write", "signet:users:write"]);
    browser = testBrowser();
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const put = (body: object, as = api) => as.call("PUT", "/sign-up", { body });
  const mail = (name: string) => `${name}${made}@new.example`;
  const asked = { firstname: "Nora", surname: "Nye", password: PASSWORD, "terms-accept": "yes" };
  /** Through the pages, to the one that says that an administrator has to approve. */
  const signUp = async (email: string, more: Readonly<Record<string, string>> = {}) => {
    const at = `${org.issuer}/sign-up`;
    await browser.post(at, { ...(await browser.get(at)).hidden, email });
    const link = await newestLinkPage(running.service, email);
    const form = await browser.get(link);
    const answer = await follow(browser, await browser.post(link, { ...form.hidden, ...asked, ...more }));
    return { link, answer };
  };
  const waiting = async () => {
    const { body } = await api.call("GET", "/sign-ups?state=waiting&total=true");
    return body["items"] as Array<Record<string, unknown>>;
  };
  const templates = async (email: string) =>
    (await mailsTo(running.service, email)).map((one) => one.mail.template);
  const lastEvent = async (action: string) => {
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 50);
    return events.find((event) => event.action === action);
  };

  test("the settings: off, as they are put, and as in a new organisation where they are left out", async () => {
    const off = { mode: "off", terms: null, groups: [] };
    assert.deepEqual((await api.call("GET", "/sign-up")).body, off);
    const set = await put({ mode: "approval", terms: TERMS });
    assert.deepEqual([set.status, set.body], [200, { mode: "approval", terms: TERMS, groups: [] }]);
    assert.deepEqual((await api.call("GET", "/sign-up")).body, set.body);
    assert.deepEqual((await put({ terms: null })).body, off);
    for (const [body, path] of [
      [{ mode: "closed" }, "/mode"],
      [{ terms: { version: "", url: TERMS.url } }, "/terms/version"],
      [{ terms: { version: " 1", url: TERMS.url } }, "/terms/version"],
      [{ terms: { version: "1" } }, "/terms/url"],
      [{ terms: { version: "1", url: "http://acme.example" } }, "/terms/url"],
      [{ terms: { version: "1", url: TERMS.url, text: "x" } }, "/terms/text"],
      [{ groups: ["x"] }, "/groups/0"],
      [{ more: 1 }, "/more"],
    ] as const) {
      const { status, body: told } = await put(body);
      assert.equal(status, 422, JSON.stringify(body));
      assert.ok(JSON.stringify(told).includes(`"${path}"`), `${path} ${JSON.stringify(told)}`);
    }
    assert.deepEqual((await api.call("GET", "/sign-up")).body, off);
    const reader = await makeApiClient(running.service, org, ["signet:organisation:read"]);
    assert.equal((await put({ mode: "open" }, reader)).status, 403);
    const stranger = await makeApiClient(running.service, org, ["signet:users:write"]);
    for (const path of ["/sign-up", "/sign-ups"])
      assert.equal((await stranger.call("GET", path)).status, 403, path);
  });

  test("groups: those of the organisation that no connection provisions, by who may change groups", async () => {
    const { service } = running;
    const orgId = org.organisation.id;
    const content = { displayName: "Guests", description: null, externalId: null };
    const group = await createGroup(service, { orgId, actor: "test", content });
    const refused = await put({ groups: [group.id] });
    assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    const manager = await makeApiClient(service, org, ["signet:organisation:write", "signet:groups:write"]);
    assert.deepEqual((await put({ groups: [group.id.toUpperCase()] }, manager)).body["groups"], [group.id]);
    const other = await makeOrganisation(service, `Other${made}`);
    const foreign = await createGroup(service, { orgId: other.organisation.id, actor: "test", content });
    const theirs = {
      ...{ ...content, displayName: "Theirs", orgId, id: crypto.randomUUID(), source: "scim" as const },
      connectionId: await newSignInConnection(service, orgId),
      ...{ createdAt: 1, updatedAt: 1, version: 1 },
    };
    assert.ok(await insertGroup(service.database.query, theirs));
    for (const id of [foreign.id, theirs.id, crypto.randomUUID()])
      assert.equal((await put({ groups: [id] }, manager)).status, 422, id);
  });

  test("approval: nobody signs in before, and the account is made with what was typed", async () => {
    await put({ mode: "approval", terms: TERMS });
    const email = mail("nora");
    const { link, answer } = await signUp(email);
    assert.match(answer.body, /id="sign-up-waiting"/);
    assert.equal(answer.url, link);
    const wrong = await logIn(browser, org, await visit(browser, org), { email });
    assert.match(wrong.body, /Incorrect email or password/);
    const [record, ...others] = await waiting();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [record?.["email"], record?.["firstname"], record?.["surname"], record?.["state"]],
      [email, "Nora", "Nye", "waiting"],
    );
    assert.deepEqual([record?.["termsVersion"], record?.["reason"]], [TERMS.version, null]);
    assert.ok(!JSON.stringify(record).includes("password"));
    clock.advance(60_000);
    const path = `/sign-ups/${String(record?.["id"])}`;
    const approved = await api.call("POST", `${path}/approve`);
    assert.deepEqual([approved.status, approved.body["state"]], [200, "approved"]);
    assert.deepEqual((await api.call("GET", path)).body, approved.body);
    const user = (await api.call("GET", `/users/${String(approved.body["userId"])}`)).body;
    assert.deepEqual([user["email"], user["emailVerified"], user["role"]], [email, true, "Standard"]);
    assert.deepEqual(user["acceptedTerms"], [
      { version: TERMS.version, acceptedAt: new Date(clock() - 60_000).toISOString() },
    ]);
    const filter = encodeURIComponent(`email eq "${email}"`);
    const { body: listed } = await api.call("GET", `/users?filter=${filter}`);
    assert.deepEqual((listed["items"] as Array<typeof user>)[0]?.["acceptedTerms"], user["acceptedTerms"]);
    assert.deepEqual(await templates(email), ["SignUp", "SignUpApproved"]);
    assert.match((await browser.get(link)).body, /id="sign-up-created"/);
    const page = await logIn(browser, org, await visit(browser, org), { email });
    assert.ok(showsConsent(page), page.body);
    const again = await api.call("POST", `${path}/approve`);
    assert.deepEqual([again.status, again.body], [200, approved.body], "repeatable");
    const approvals = (await templates(email)).filter((template) => template === "SignUpApproved");
    assert.equal(approvals.length, 1, "told once");
    assert.equal((await api.call("POST", `${path}/reject`)).status, 409);
    const event = await lastEvent("sign-up.approved");
    assert.deepEqual([event?.target, event?.actor.startsWith("user:")], [user["id"], false]);
    assert.deepEqual(await waiting(), []);
  });

  test("rejected: no account, no password left, the reason for administrators alone", async () => {
    await put({ mode: "approval" });
    const email = mail("rick");
    const { link } = await signUp(email);
    const [record] = await waiting();
    const path = `/sign-ups/${String(record?.["id"])}`;
    for (const reason of ["", "a\nb", "x".repeat(501), 1])
      assert.equal((await api.call("POST", `${path}/reject`, { body: { reason } })).status, 422);
    const rejected = await api.call("POST", `${path}/reject`, { body: { reason: "Not a customer" } });
    assert.deepEqual(
      [rejected.status, rejected.body["state"], rejected.body["reason"], rejected.body["userId"]],
      [200, "rejected", "Not a customer", null],
    );
    const again = await api.call("POST", `${path}/reject`, { body: { reason: "Another one" } });
    assert.deepEqual([again.status, again.body], [200, rejected.body], "repeatable");
    assert.equal((await api.call("POST", `${path}/approve`)).status, 409);
    const [, told, ...more] = await mailsTo(running.service, email);
    assert.deepEqual(more, [], "told once");
    assert.equal(told?.mail.template, "SignUpRejected");
    assert.ok(!JSON.stringify(told).includes("customer"));
    const page = await browser.get(link);
    assert.match(page.body, /id="sign-up-rejected"/);
    assert.ok(!page.body.includes("customer"));
    const row = await running.service.database.query
      .selectFrom("sign_up")
      .select(["password_hash"])
      .where("org_id", "=", org.organisation.id)
      .executeTakeFirstOrThrow();
    assert.equal(row.password_hash, null);
    assert.equal((await lastEvent("sign-up.rejected"))?.target, record?.["id"]);
    await signUp(email);
    assert.equal((await waiting()).length, 1, "whoever was rejected may ask again");
  });

  test("of two decisions at once one counts", async () => {
    await put({ mode: "approval" });
    await signUp(mail("nora"));
    const [record] = await waiting();
    const answers = await Promise.all(
      ["approve", "approve", "reject"].map((act) =>
        api.call("POST", `/sign-ups/${String(record?.["id"])}/${act}`),
      ),
    );
    const { body } = await api.call("GET", `/sign-ups/${String(record?.["id"])}`);
    const isApproved = body["state"] === "approved";
    assert.deepEqual(
      answers.map(({ status }) => status),
      isApproved ? [200, 200, 409] : [409, 409, 200],
    );
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 100);
    const decisions = events.filter(
      ({ action, details }) =>
        /^sign-up\.(approved|rejected)$/.test(action) && details["signUpId"] === record?.["id"],
    );
    assert.equal(decisions.length, 1);
  });

  test("an address that waits waits once, and with what was typed last", async () => {
    await put({ mode: "approval" });
    const email = mail("nora");
    await signUp(email, { firstname: "First" });
    const [first] = await waiting();
    await signUp(email.toUpperCase(), { firstname: "Last" });
    const all = await waiting();
    assert.deepEqual(
      all.map(({ id, firstname }) => [id, firstname]),
      [[first?.["id"], "Last"]],
    );
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 100);
    const completed = events.filter(({ action }) => action === "sign-up.completed");
    assert.deepEqual(
      completed.map(({ target }) => target),
      [first?.["id"], first?.["id"]],
    );
  });

  test("an account that is there by now is a conflict, and the sign-up still waits", async () => {
    await put({ mode: "approval" });
    const email = mail("nora");
    await signUp(email);
    await createUser(running.service, {
      ...{ organisation: org.organisation, email, password: PASSWORD, firstname: "Uma", surname: "Berg" },
      ...{ role: "Standard", emailVerified: true, actor: "test" },
    });
    const [record] = await waiting();
    const path = `/sign-ups/${String(record?.["id"])}`;
    assert.equal((await api.call("POST", `${path}/approve`)).status, 409);
    assert.equal((await waiting()).length, 1);
    assert.equal((await api.call("POST", `${path}/reject`)).status, 200);
  });

  test("administrators are told at most once an hour", async () => {
    const email = mail("admin");
    await createUser(running.service, {
      ...{ organisation: org.organisation, email, password: PASSWORD, firstname: "Ada", surname: "Berg" },
      ...{ role: "Administrator", emailVerified: true, actor: "test" },
    });
    await put({ mode: "approval" });
    for (const name of ["one", "two", "three"]) await signUp(mail(name));
    assert.deepEqual(await templates(email), ["SignUpsWaiting"]);
    clock.advance(3_600_000);
    await signUp(mail("four"));
    assert.deepEqual(await templates(email), ["SignUpsWaiting", "SignUpsWaiting"]);
    const [first] = await mailsTo(running.service, email);
    assert.ok(!JSON.stringify(first).includes("one"), "whoever waits has chosen their own name");
  });

  test("another organisation's sign-ups are unknown, and those of a month ago are gone", async () => {
    await put({ mode: "approval" });
    await signUp(mail("nora"));
    const [record] = await waiting();
    const path = `/sign-ups/${String(record?.["id"])}`;
    const other = await makeOrganisation(running.service, `Other${made}`);
    const theirs = await makeApiClient(running.service, other, ["signet:organisation:write"]);
    for (const [method, at] of [
      ["GET", path],
      ["POST", `${path}/approve`],
      ["POST", `${path}/reject`],
    ] as const)
      assert.equal((await theirs.call(method, at)).status, 404, at);
    clock.advance(30 * DAY_MS);
    api = await makeApiClient(running.service, org, ["signet:organisation:write"]);
    assert.deepEqual(await waiting(), []);
    assert.equal((await api.call("POST", `${path}/approve`)).status, 404);
  });
});
