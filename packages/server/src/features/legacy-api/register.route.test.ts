/** Registration by call: silent about who is there, and no account before its address is shown to be its owner's. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createAction } from "../../core/actions/actions.ts";
import { findUserByEmail } from "../../core/users/users.store.ts";
import { setUserStatus } from "../../core/users/users.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { testBrowser } from "../../testing/fakes/browser.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo, newestApiLink, newestLink } from "../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../testing/fixtures/system-account.ts";
import { withUser } from "../../testing/fixtures/visit.ts";
import { dumpDatabase } from "../../testing/probes/dump-database.ts";
import { assertAudited } from "../../testing/probes/written-actions.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const CHOSEN = "walnut orbit seventeen";
const FOREIGN_PASSWORD = "stranger chose this one";
const json = { headers: { accept: "application/json" } };
const withPassword = (NewPassword: string) => ({ method: "POST", body: { NewPassword }, ...json });

describe("registration by call", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let hashes = 0;
    const passwords = {
      ...quickPasswords,
      hash: (password: string) => {
        hashes += 1;
        return quickPasswords.hash(password, "");
      },
    };
    let running: TestService;
    let org: TestOrganisation;
    let account: TestAccount;
    before(async () => {
      const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS: "registration-address=200/60" };
      running = await startTestService({ databaseUrl: await fresh(), clock, passwords, env });
      org = await makeOrganisation(running.service);
      account = await makeSystemAccount(running.service, org);
    });
    after(() => running.close());

    const register = (email: string, more: Record<string, unknown> = {}) =>
      callApi(`${running.baseUrl}/legacy/api/Authentication/User/Register`, account, {
        body: { Email: email, Password: CHOSEN, Firstname: "Nina", Surname: "New", ...more },
      });
    const login = (email: string, password = CHOSEN) =>
      callApi(`${running.baseUrl}/legacy/api/Authentication/User/Login`, account, {
        body: { Email: email, Password: password },
      });
    const userOf = async (email: string) =>
      (await findUserByEmail(running.service.database.query, org.organisation.id, email))?.user;
    const counts = async () => {
      const { query } = running.service.database;
      const rows = await Promise.all(
        (["outgoing_mail", "user_action", "audit_event", "user_account"] as const).map((table) =>
          query.selectFrom(table).select("org_id").execute(),
        ),
      );
      return rows.map(({ length }) => length);
    };

    test("creates no account before the link is used", async () => {
      const email = "nina@acme.example";
      assert.equal((await register(email, { Phone: "+45 12 34 56 78" })).status, 202);
      assert.equal(await userOf(email), undefined);
      assert.equal((await login(email)).status, 401);
      const link = await newestApiLink(running.service, email);
      assert.ok((await newestLink(running.service, email)).startsWith(`${running.baseUrl}/verify/sgn_ua_`));
      const { status, body } = await callApi(link, undefined, withPassword(CHOSEN));
      assert.deepEqual([status, body], [200, { Type: "VerifyEmail", Completed: true }]);
      const user = await userOf(email);
      assert.deepEqual([user?.role, user?.emailVerified, user?.phone], ["Standard", true, "+45 12 34 56 78"]);
      assert.equal((await login(email)).status, 200);
      assert.equal((await callApi(link, undefined, json)).status, 404, "once");
    });

    test("the password of the request counts when the organisation's backend completes the link", async () => {
      const other = await makeSystemAccount(running.service, await makeOrganisation(running.service));
      const action = (link: string) => link.replace(/User.Register.Complete.(.*)$/, "Action/$1/VerifyEmail");
      for (const [email, address] of [
        ["signed@acme.example", (link: string) => link],
        ["signed-too@acme.example", action],
      ] as const) {
        await register(email);
        const link = address(await newestApiLink(running.service, email));
        const required = async (by?: TestAccount) =>
          (await callApi(`${action(link)}/Requirement`, by)).body["Requires"];
        assert.deepEqual([await required(), await required(account)], [["NewPassword"], []]);
        assert.equal((await callApi(link, other)).status, 404, "another organisation's");
        assert.equal((await callApi(link, { ...account, secret: "guessed" })).status, 401);
        assert.equal((await login(email)).status, 401);
        const { status, body } = await callApi(link, account);
        assert.deepEqual([status, body], [200, { Type: "VerifyEmail", Completed: true }]);
        assert.equal((await login(email)).status, 200);
        assert.equal((await callApi(link, account)).status, 404, "once");
      }
    });

    test("without a signature the password of the request is never set", async () => {
      const action = (link: string) => link.replace(/User.Register.Complete.(.*)$/, "Action/$1/VerifyEmail");
      for (const email of ["victim@acme.example", "other-victim@acme.example"]) {
        await register(email, { Password: FOREIGN_PASSWORD });
        const link = await newestApiLink(running.service, email);
        const { body } = await callApi(`${action(link)}/Requirement`, undefined, json);
        assert.deepEqual(body["Requires"], ["NewPassword"]);
        assert.equal((await callApi(action(link), undefined, { method: "POST", body: {} })).status, 422);
        assert.equal((await callApi(link, undefined, { method: "POST", body: {} })).status, 422);
        assert.equal((await callApi(link, undefined, withPassword("short"))).status, 422);
        assert.equal(await userOf(email), undefined);
        // The specified calls verify the address, and nothing more.
        const verify = email.startsWith("victim") ? link : action(link);
        assert.equal((await callApi(verify, undefined, json)).status, 200);
        assert.equal((await userOf(email))?.emailVerified, true);
        assert.equal((await login(email, FOREIGN_PASSWORD)).status, 401);
        await callApi(`${running.baseUrl}/legacy/api/Authentication/User/${email}/PasswordReset`, account, {
          method: "POST",
        });
        const reset = await callApi(
          await newestApiLink(running.service, email),
          undefined,
          withPassword(CHOSEN),
        );
        assert.equal(reset.status, 200);
        assert.equal((await login(email, FOREIGN_PASSWORD)).status, 401);
        assert.equal((await login(email)).status, 200);
      }
    });

    test("responds alike to taken, disabled and free addresses, and notifies the owner", async () => {
      const owner = await withUser(running.service, org, "owner@acme.example");
      const shut = await withUser(running.service, org, "shut@acme.example");
      const key = { orgId: org.organisation.id, id: shut.user.id, disabled: true, actor: "test" };
      await setUserStatus(running.service, key);
      const seen: unknown[] = [];
      for (const email of ["free@acme.example", " OWNER@acme.example", shut.user.email]) {
        const [rows, made] = [await counts(), hashes];
        const { status, text, headers } = await register(email);
        const names = [...headers.keys()].filter((name) => name !== "date").sort();
        const grown = (await counts()).map((count, index) => count - (rows[index] ?? 0));
        seen.push({ status, text, names, grown, hashes: hashes - made });
      }
      for (const one of seen) assert.deepEqual(one, seen[0]);
      assert.match(JSON.stringify(seen[0]), /"status":202.*"grown":\[1,1,1,0\],"hashes":1/);
      const mails = await mailsTo(running.service, owner.user.email);
      assert.deepEqual(
        mails.map(({ mail }) => mail.template),
        ["AccountExists"],
      );
      assert.deepEqual(await mailsTo(running.service, shut.user.email), []);
      assert.equal((await login(owner.user.email, PASSWORD)).status, 200, "the account is as it was");
      assert.equal((await login(owner.user.email)).status, 401);
    });

    test("keeps a user's own link when another registers with the address", async () => {
      const { service } = running;
      const { user } = await withUser(service, org, "linked@acme.example");
      const { id } = await createAction(service.database.query, service, {
        ...{ orgId: org.organisation.id, userId: user.id, type: "VerifyEmail", data: { email: user.email } },
      });
      assert.equal((await register(user.email)).status, 202);
      const link = `${running.baseUrl}/legacy/api/Authentication/Action/${id}/VerifyEmail`;
      assert.equal((await callApi(link, undefined, json)).status, 200);
    });

    test("rejects members that the registration does not define", async () => {
      for (const more of [
        { Role: "Administrator" },
        { EmailVerified: true },
        { PermId: org.user.id },
        { OrganisationId: org.organisation.id },
        { ["__proto__"]: { Role: "Administrator" } },
      ]) {
        const { status } = await register("mass@acme.example", more);
        // What JSON.stringify leaves out was never sent.
        assert.ok(status === 422 || !JSON.stringify(more).includes("Role"), JSON.stringify(more));
      }
      assert.equal((await register("mass@acme.example")).status, 202);
      await callApi(await newestApiLink(running.service, "mass@acme.example"), undefined, json);
      assert.equal((await userOf("mass@acme.example"))?.role, "Standard");
    });

    test("checks the password before it looks up the address", async () => {
      const [rows, made] = [await counts(), hashes];
      for (const email of [org.user.email, "unknown@acme.example"]) {
        for (const password of ["short", "password1234", email, "a".repeat(300)]) {
          const { status, body } = await register(email, { Password: password });
          assert.equal(status, 422);
          assert.deepEqual((body["errors"] as Array<{ path: string }>)[0]?.path, "/Password");
        }
      }
      assert.deepEqual([await counts(), hashes], [rows, made]);
    });

    test("completes a registration by the button, not when a browser or scanner opens the link", async () => {
      const email = "scanned@acme.example";
      await register(email);
      const link = await newestApiLink(running.service, email);
      for (const accept of ["*/*", "text/html,application/xhtml+xml", "image/png"]) {
        const scanner = testBrowser();
        const first = await scanner.get(link, { accept });
        assert.equal(first.status, 303);
        const page = await scanner.get(first.location ?? "", { accept });
        assert.equal(page.status, 200);
      }
      assert.equal(await userOf(email), undefined);
      const browser = testBrowser();
      const opened = await browser.get((await browser.get(link)).location ?? "");
      assert.match(opened.body, /id="action-confirm"/);
      const url = opened.url;
      assert.equal((await testBrowser().post(url, opened.hidden)).status, 403, "another browser's form");
      assert.equal((await browser.post(url, opened.hidden)).status, 422, "without a password");
      assert.equal(await userOf(email), undefined);
      const form = { ...opened.hidden, password: "another orbit eighteen" };
      const both = await Promise.all([browser.post(url, form), browser.post(url, form)]);
      assert.deepEqual(both.map(({ status }) => status).sort(), [303, 404], "two clicks");
      assert.equal((await login(email)).status, 401, "not the password of the request");
      assert.equal((await login(email, form.password)).status, 200);
      assert.equal((await browser.get(url)).status, 404);
    });

    test("a foreign registration of the same address neither ends the owner's link nor wins by it", async () => {
      const email = "again@acme.example";
      await register(email);
      const owners = await newestApiLink(running.service, email);
      await register(email, { Password: FOREIGN_PASSWORD });
      const other = await newestApiLink(running.service, email);
      assert.notEqual(owners, other);
      for (const link of [owners, other])
        assert.equal((await testBrowser().get(link)).status, 303, "it still opens");
      const chosen = "the owner enters this";
      const all = [owners, other, owners].map((link) => callApi(link, undefined, withPassword(chosen)));
      assert.deepEqual((await Promise.all(all)).map(({ status }) => status).sort(), [200, 404, 404]);
      for (const link of [owners, other]) {
        assert.equal((await callApi(link, undefined, json)).status, 404);
        assert.equal((await testBrowser().get(link)).status, 404);
      }
      for (const password of [CHOSEN, FOREIGN_PASSWORD])
        assert.equal((await login(email, password)).status, 401);
      assert.equal((await login(email, chosen)).status, 200);
    });

    test("never assigns an address twice", async () => {
      const email = "race@acme.example";
      await register(email);
      const link = await newestApiLink(running.service, email);
      const user = await withUser(running.service, org, email);
      assert.equal((await callApi(link, undefined, json)).status, 404);
      assert.equal((await userOf(email))?.id, user.user.id);
      assert.equal((await login(email)).status, 401, "nor its password changed");
    });

    test("distinguishes an expired link from an unknown one", async () => {
      await register("late@acme.example");
      const link = await newestApiLink(running.service, "late@acme.example");
      clock.advance(25 * 3_600_000);
      assert.equal((await callApi(link, undefined, json)).status, 410);
      assert.equal((await testBrowser().get(link)).status, 410);
      assert.match((await testBrowser().get(link)).body, /<html/);
      assert.equal((await callApi(`${link}x`, undefined, json)).status, 404);
    });

    test("sends at most five emails an hour to one mailbox", async () => {
      for (const email of ["often@acme.example", org.user.email]) {
        for (let time = 0; time < 5; time += 1) assert.equal((await register(email)).status, 202);
        const { status, headers } = await register(email);
        assert.equal(status, 429);
        assert.match(headers.get("ratelimit-policy") ?? "", /registration-account/);
      }
    });

    test("audits every step", () =>
      assertAudited(running.service.database.query, "registration.requested", "user.registered"));

    test("keeps passwords and links unreadable in the database and the logs", async () => {
      await register("quiet@acme.example", { Password: "quiet stranger chose this" });
      const link = await newestApiLink(running.service, "quiet@acme.example");
      const stored = await dumpDatabase(running.service.database.query);
      const id = link.split("/").at(-1) ?? "";
      for (const secret of [
        id,
        "quiet stranger chose this",
        await quickPasswords.hash("quiet stranger chose this", ""),
      ])
        assert.ok(!stored.includes(secret));
      assert.ok(!JSON.stringify(running.lines).includes("sgn_ua_"));
      assert.deepEqual(running.errors, []);
    });
  });

  test("responds with an error when mail is not set up", async () => {
    const running = await startTestService({ databaseUrl: "sqlite::memory:", passwords: quickPasswords });
    try {
      const org = await makeOrganisation(running.service);
      const account = await makeSystemAccount(running.service, org);
      const body = { Email: "a@b.example", Password: CHOSEN, Firstname: "A", Surname: "B" };
      const url = `${running.baseUrl}/legacy/api/Authentication/User/Register`;
      const answer = await callApi(url, account, { body });
      assert.deepEqual([answer.status, answer.body["type"]], [503, "urn:signet:error:mail-not-set-up"]);
    } finally {
      await running.close();
    }
  });
});
