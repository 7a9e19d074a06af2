/** Links of mails: who may complete them and how, once, in time, and only as what they are. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { requestNewEmail } from "../../../core/users/account-mails.ts";
import { inviteUser } from "../../../core/users/invitations/invitations.ts";
import type { User } from "../../../core/users/user.ts";
import { findUser, findUserByEmail } from "../../../core/users/users.store.ts";
import { setUserStatus } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo, newestApiLink } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import {
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../../testing/fixtures/system-account.ts";
import { withUser } from "../../../testing/fixtures/visit.ts";
import { assertAudited } from "../../../testing/probes/written-actions.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const HOUR = 3_600_000;
const CHOSEN = "walnut orbit seventeen";
const json = { headers: { accept: "application/json" } };
const newPassword = { body: { NewPassword: CHOSEN } };

describe("email links by API call", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let running: TestService;
    let org: TestOrganisation;
    let home: TestOrganisation;
    let account: TestAccount;
    before(async () => {
      const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS: "recovery-account=20/60,registration-account=20/60" };
      running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords, env });
      org = await makeOrganisation(running.service);
      home = await makeOrganisation(running.service, "Home");
      account = await makeSystemAccount(running.service, org);
    });
    after(() => running.close());

    let users = 0;
    const newUser = (of = org) => withUser(running.service, of, `user${users++}@acme.example`);
    const call = (path: string, asked: ApiRequest = {}, by: TestAccount | undefined = account) =>
      callApi(
        path.startsWith("http") ? path : `${running.baseUrl}/legacy/api/Authentication/${path}`,
        by,
        asked,
      );
    const reset = async (who: TestOrganisation) => {
      await call(`User/${who.user.email}/PasswordReset`, { method: "POST" });
      return newestApiLink(running.service, who.user.email);
    };
    const login = async (email: string, password: string, by = account) =>
      (await call("User/Login", { body: { Email: email, Password: password } }, by)).status;
    const applicationRecord = async (who: TestOrganisation): Promise<User> => {
      const found = await findUser(running.service.database.query, who.organisation.id, who.user.id);
      assert.ok(found);
      return found;
    };
    const mailDeps = () => ({ ...running.service, baseUrl: running.baseUrl });

    test("reports that a reset needs a password, sets it once and ends the sessions", async () => {
      const who = await newUser();
      const key = (await call("User/Login", { body: { Email: who.user.email, Password: PASSWORD } })).body[
        "Key"
      ];
      const link = await reset(who);
      assert.match(link, /\/legacy\/api\/Authentication\/Action\/sgn_ua_[\w-]{43}\/ResetPassword$/);
      const { body } = await callApi(`${link}/Requirement`, undefined);
      assert.deepEqual(body, {
        Type: "ResetPassword",
        Requires: ["NewPassword"],
        ExpiresAt: new Date(clock() + HOUR).toISOString(),
      });
      assert.equal((await callApi(link, undefined, json)).status, 422, "GET has no password");
      assert.equal((await callApi(link, account)).status, 422);
      const all = await Promise.all([1, 2, 3, 4].map(() => callApi(link, undefined, newPassword)));
      assert.deepEqual(all.map(({ status }) => status).sort(), [200, 404, 404, 404]);
      assert.deepEqual(
        [await login(who.user.email, PASSWORD), await login(who.user.email, CHOSEN)],
        [401, 200],
      );
      assert.equal((await call(`Account/VerifyIdentity/${String(key)}`, {}, undefined)).status, 401);
    });

    test("responds to PasswordReset alike for every address", async () => {
      const who = await newUser();
      const shut = await newUser();
      const named = { orgId: org.organisation.id, id: shut.user.id, disabled: true, actor: "test" };
      await setUserStatus(running.service, named);
      const { query } = running.service.database;
      const counts = () =>
        Promise.all(
          (["outgoing_mail", "user_action", "audit_event"] as const).map(
            async (table) => (await query.selectFrom(table).select("org_id").execute()).length,
          ),
        );
      const seen: unknown[] = [];
      for (const email of [who.user.email, "nobody@acme.example", shut.user.email, home.user.email]) {
        const before = await counts();
        const { status, text } = await call(`User/${email}/PasswordReset`, { method: "POST" });
        seen.push([status, text, (await counts()).map((count, index) => count - (before[index] ?? 0))]);
      }
      for (const one of seen) assert.deepEqual(one, seen[0]);
      const toNobody = await query
        .selectFrom("outgoing_mail")
        .select(["failed_at", "sent_at"])
        .where("recipient", "=", "")
        .execute();
      const isHandled = toNobody.every((mail) => mail.failed_at === null && mail.sent_at !== null);
      assert.deepEqual([toNobody.length, isHandled], [3, true]);
      assert.equal((await mailsTo(running.service, shut.user.email)).length, 0);
      assert.equal((await mailsTo(running.service, home.user.email)).length, 0);
      assert.equal((await call("User/nobody/PasswordReset", { method: "POST" })).status, 422);
      const longest = `${"a".repeat(64)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(59)}.example`;
      assert.equal(longest.length, 254);
      const path = `User/${encodeURIComponent(longest)}/PasswordReset`;
      assert.equal((await call(path, { method: "POST" })).status, 202);
    });

    test("keeps other users' links when a reset names an unknown address", async () => {
      const who = await newUser();
      const link = await reset(who);
      await call("User/somebody@acme.example/PasswordReset", { method: "POST" });
      assert.equal((await callApi(`${link}/Requirement`, undefined)).status, 200);
    });

    test("redirects a browser to the reset page, which changes nothing by itself", async () => {
      const who = await newUser();
      const link = await reset(who);
      const page = await testBrowser().get(link);
      assert.deepEqual([page.status, page.headers.get("cache-control")], [303, "no-store"]);
      const opened = await testBrowser().get(page.location ?? "");
      assert.match(opened.body, /id="new-password-submit"/);
      assert.equal(await login(who.user.email, PASSWORD), 200);
      const scanned = await callApi(link, undefined, { method: "POST" });
      assert.equal(scanned.status, 422, "and a POST without a password neither");
    });

    test("rejects a link of another type, by another organisation's caller, or expired", async () => {
      const who = await newUser();
      const link = await reset(who);
      for (const type of [
        "VerifyEmail",
        "AcceptInvitation",
        "AcceptRoaming",
        "ChangeEmail",
        "resetpassword",
      ]) {
        const other = link.replace("ResetPassword", type);
        assert.equal((await callApi(other, undefined, newPassword)).status, 404, type);
      }
      const stranger = await makeSystemAccount(running.service, home, { administrator: true });
      assert.equal((await callApi(link, stranger, newPassword)).status, 404);
      clock.advance(HOUR);
      for (const asked of [newPassword, json]) {
        const { status, body } = await callApi(link, undefined, asked);
        assert.deepEqual([status, body["type"]], [410, "urn:signet:error:expired"]);
      }
      assert.equal((await callApi(`${link}/Requirement`, undefined)).status, 410);
      assert.equal((await testBrowser().get(link)).status, 410);
    });

    test("sets the first password of an invitation by call or on its page", async () => {
      const { service } = running;
      const invite = (email: string) =>
        inviteUser(mailDeps(), {
          ...{ organisation: org.organisation, email, firstname: "Ivy", surname: "Invited" },
          ...{ role: "Standard", actor: "test" },
        });
      await invite("ivy@acme.example");
      assert.equal(await login("ivy@acme.example", CHOSEN), 401);
      const older = await newestApiLink(service, "ivy@acme.example");
      await invite("ivy@acme.example");
      const link = await newestApiLink(service, "ivy@acme.example");
      assert.equal((await callApi(older, undefined, newPassword)).status, 404);
      assert.equal((await callApi(link, undefined, { body: { NewPassword: "ivy invited" } })).status, 422);
      assert.equal((await callApi(link, undefined, newPassword)).status, 200);
      assert.equal(await login("ivy@acme.example", CHOSEN), 200);
      await assert.rejects(invite("ivy@acme.example"), /already/);

      await invite("ian@acme.example");
      const browser = testBrowser();
      const page = await browser.get(
        (await browser.get(await newestApiLink(service, "ian@acme.example"))).location ?? "",
      );
      const weak = await browser.post(page.url, { ...page.hidden, password: "short" });
      assert.equal(weak.status, 422);
      const done = await browser.post(page.url, { ...page.hidden, password: CHOSEN });
      assert.equal(done.status, 303, "it is signed in");
      assert.match(page.body, /“Acme”/, "where the name begins and ends");
      assert.equal(await login("ian@acme.example", CHOSEN), 200);
    });

    test("changes the email address after confirmation, and notifies the old one", async () => {
      const { service } = running;
      const who = await newUser();
      await requestNewEmail(mailDeps(), await applicationRecord(who), {
        newEmail: "changed@acme.example",
        actor: "test",
      });
      assert.equal(await login("changed@acme.example", PASSWORD), 401);
      const link = await newestApiLink(service, "changed@acme.example");
      assert.equal((await callApi(link, account)).status, 200, "a signature is enough");
      assert.deepEqual(
        [await login(who.user.email, PASSWORD), await login("changed@acme.example", PASSWORD)],
        [401, 200],
      );
      const told = await mailsTo(service, who.user.email);
      assert.ok(told.some(({ mail }) => mail.template === "EmailChanged"));
      const taken = await newUser();
      await requestNewEmail(mailDeps(), await applicationRecord(taken), {
        newEmail: "later@acme.example",
        actor: "test",
      });
      await withUser(service, org, "later@acme.example");
      assert.equal((await callApi(await newestApiLink(service, "later@acme.example"), account)).status, 404);
      assert.equal((await applicationRecord(taken)).email, taken.user.email);
    });

    test("adds a roaming user by email and confirmation, with the password at the home organisation only", async () => {
      const { service } = running;
      const who = await newUser(home);
      const ask = (body: object) => call("User/Roaming/Register", { body });
      const asked = { Email: who.user.email, HomeOrganisationId: home.organisation.id };
      assert.equal((await ask(asked)).status, 202);
      assert.equal(await login(who.user.email, PASSWORD), 401, "nobody has agreed yet");
      const [mail] = await mailsTo(service, who.user.email);
      assert.deepEqual([mail?.mail.template, mail?.orgId], ["AcceptRoaming", org.organisation.id]);
      const browser = testBrowser();
      const page = await browser.get(
        (await browser.get(await newestApiLink(service, who.user.email))).location ?? "",
      );
      assert.match(page.body, /id="action-confirm"/);
      assert.equal(await login(who.user.email, PASSWORD), 401, "opening it changes nothing");
      assert.match((await browser.post(page.url, page.hidden)).body, /<p role="status">/);
      assert.equal(await login(who.user.email, PASSWORD), 200);
      const member = await applicationRecord({ ...org, user: who.user });
      assert.deepEqual([member.homeOrgId, member.role], [home.organisation.id, "Standard"]);

      const links = async () =>
        (await mailsTo(service, who.user.email)).filter(({ mail }) => "link" in mail.data);
      const before = (await links()).length;
      assert.equal((await call(`User/${who.user.email}/PasswordReset`, { method: "POST" })).status, 202);
      assert.equal((await links()).length, before, "the visited organisation sends no reset");
      assert.equal(
        (await ask({ PermId: who.user.id, HomeOrganisationId: home.organisation.id })).status,
        202,
      );
      assert.equal((await links()).length, before, "a member is not asked again");
      const own = await withUser(service, org, who.user.email);
      const found = await findUserByEmail(service.database.query, org.organisation.id, who.user.email);
      assert.equal(found?.user.id, own.user.id, "the organisation's own user comes first");
    });

    test("responds to a roaming request alike for known and unknown users", async () => {
      const who = await newUser(home);
      const { query } = running.service.database;
      const count = async () =>
        (await query.selectFrom("user_action").select("org_id").execute()).length +
        (await query.selectFrom("outgoing_mail").select("org_id").execute()).length;
      const seen: unknown[] = [];
      for (const body of [
        { Email: who.user.email, HomeOrganisationId: home.organisation.id },
        { Email: "nobody@home.example", HomeOrganisationId: home.organisation.id },
        { PermId: org.user.id, HomeOrganisationId: home.organisation.id },
        { Email: who.user.email, HomeOrganisationId: who.user.id },
      ]) {
        const before = await count();
        const { status, text } = await call("User/Roaming/Register", { body });
        seen.push([status, text, (await count()) - before]);
      }
      for (const one of seen) assert.deepEqual(one, seen[0]);
      const events = await listAuditEvents(query, org.organisation.id, 4);
      for (const { target, details } of events)
        assert.deepEqual([target, Object.keys(details ?? {})], [undefined, ["homeOrgId"]]);
    });

    test("keeps links out of the logs", async () => {
      const lines = await running.linesSoFar();
      assert.ok(!JSON.stringify(lines).includes("sgn_ua_"));
      assert.ok(lines.some(({ route }) => route.endsWith("/Action/:id/:type")));
      assert.deepEqual(running.errors, []);
    });

    test("audits every step", () => assertAudited(running.service.database.query, "roaming.accepted"));
  });
});
