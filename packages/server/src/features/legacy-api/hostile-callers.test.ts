/** What a caller, a holder of a handed key or the bearer of an old link must not get by odd input or by an odd order. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { changeApplication } from "../../core/applications/application-changes.ts";
import { setOrganisationStatus } from "../../core/organisations/organisations.ts";
import { inviteUser } from "../../core/users/invitations/invitations.ts";
import { insertMembership } from "../../core/users/users.store.ts";
import { setUserStatus } from "../../core/users/users.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, newestApiLink } from "../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { convertedKey, makeSessionKey } from "../../testing/fixtures/session-key.ts";
import {
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../testing/fixtures/system-account.ts";
import { withUser } from "../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const CHOSEN = "walnut orbit seventeen";
const THIEF = "copper lantern forty";
const json = { accept: "application/json" };

describe("hostile callers", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let running: TestService;
    let org: TestOrganisation;
    let plain: TestAccount;
    let administrator: TestAccount;
    before(async () => {
      const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS: "registration-address=200/60" };
      running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords, env });
      org = await makeOrganisation(running.service);
      plain = await makeSystemAccount(running.service, org);
      administrator = await makeSystemAccount(running.service, org, { administrator: true });
    });
    after(() => running.close());

    const call = (path: string, account?: TestAccount, asked: ApiRequest = {}) =>
      callApi(path.startsWith("http") ? path : `${running.baseUrl}/legacy/api/${path}`, account, asked);
    const login = (email: string, password: string, by = plain) =>
      call("Authentication/User/Login", by, { body: { Email: email, Password: password } });

    test("responds to malformed input with a typed 4xx", async () => {
      const { service } = running;
      const deep = `${'{"a":'.repeat(40)}1${"}".repeat(40)}`;
      const odd: unknown[] = ["a\u0000b@x.example", "\ud800@x.example", ["a@x.example"], 1e308, null, {}, ""];
      const register = { Email: "o@x.example", Password: CHOSEN, Firstname: "A", Surname: "B" };
      const bodies: [string, object, string[]][] = [
        ["users/get", { email: "a@x.example" }, ["email", "ApplicationId"]],
        [
          "Authentication/User/Login",
          { Email: "a@x.example", Password: "x" },
          ["Email", "Password", "TwoFactorCode", "ApplicationId"],
        ],
        [
          "Authentication/User/Register",
          register,
          ["Email", "Password", "Firstname", "Surname", "Phone", "ApplicationId"],
        ],
        [
          "Authentication/User/Roaming/Register",
          { Email: "a@x.example", HomeOrganisationId: org.organisation.id },
          ["Email", "PermId", "HomeOrganisationId", "ApplicationId"],
        ],
        ["Authentication/User/a@x.example/PasswordReset", {}, ["ApplicationId"]],
        ["Authentication/User/Logout", { Key: await makeSessionKey(service, org) }, ["Key", "ApplicationId"]],
      ];
      for (const [path, body, members] of bodies)
        for (const account of [plain, administrator]) {
          for (const member of members)
            for (const value of odd) {
              const { status, text } = await call(path, account, { body: { ...body, [member]: value } });
              assert.ok(status < 500, `${path} ${member} ${JSON.stringify(value)}: ${status} ${text}`);
            }
          for (const raw of [
            deep,
            "[]",
            "null",
            '"x"',
            "\ud800",
            '{"__proto__":{"Email":"a@x.example"}}',
            "{".repeat(60_000),
          ]) {
            const { status, text } = await call(path, account, { body: raw });
            assert.ok(status >= 400 && status < 500, `${path} ${raw.slice(0, 60)}: ${status} ${text}`);
          }
        }
    });

    test("stores settings members of any name as data, up to a size", async () => {
      const key = await makeSessionKey(running.service, org);
      const path = `User/Profile/${org.web.application.id}/${key}`;
      const put = (body: string) => call(path, plain, { method: "PUT", body });
      const text = '{"Settings":{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}},"n":1e99}}';
      assert.equal((await put(text)).status, 200);
      // A number that would come back as another one is refused instead.
      assert.equal((await put('{"Settings":{"n":1e999}}')).status, 400);
      const kept = await call(`${path}/true`);
      assert.match(kept.text, /"Settings":\{"__proto__":\{"isAdmin":true\},"constructor"/);
      assert.equal(({} as Record<string, unknown>)["isAdmin"], undefined);
      for (const bad of ["[]", "null", '"x"', "1", `{"a":"${"x".repeat(16_400)}"}`])
        assert.equal((await put(`{"Settings":${bad}}`)).status, 422, bad.slice(0, 20));
      assert.equal((await put('{"Settings":{},"__proto__":{"Settings":1}}')).status, 422);
    });

    test("rejects permanent keys once the application no longer allows them", async () => {
      const { service } = running;
      const { application } = await makeClient(service, org.organisation, { allowPermanentKeys: true });
      const key = await convertedKey(service, await makeSessionKey(service, org, application), "UserPerm");
      assert.equal((await call(`Keys/User/${key}`)).status, 200);
      const which = { orgId: org.organisation.id, id: application.id, actor: "test" };
      await changeApplication(service, which, ({ name, settings }) => ({
        name,
        settings: { ...settings, allowPermanentKeys: false },
        disabled: false,
      }));
      assert.equal((await call(`Keys/User/${key}`)).status, 401);
    });

    test("requires a signature for a temporary key where the application requires one", async () => {
      const { service } = running;
      const { application } = await makeClient(service, org.organisation, { requireSignedKeyCalls: true });
      const own = await makeSystemAccount(service, org, { applicationId: application.id });
      const handed = await convertedKey(service, await makeSessionKey(service, org), "UserTemp");
      const path = `User/Profile/${application.id}/${handed}/true`;
      assert.equal((await call(path)).status, 401);
      assert.equal((await call(path, own)).status, 200);
    });

    test("rejects an invitation once the user has a password", async () => {
      const { service, baseUrl } = running;
      const { organisation } = org;
      const invite = async (email: string) => {
        const person = { organisation, email, firstname: "Ivy", surname: "Invited" };
        const id = await inviteUser({ ...service, baseUrl }, { ...person, role: "Standard", actor: "test" });
        return { id, link: await newestApiLink(service, email) };
      };
      const set = (link: string, NewPassword: string) => call(link, undefined, { body: { NewPassword } });
      const { link } = await invite("ivy@acme.example");
      await call("Authentication/User/ivy@acme.example/PasswordReset", plain, { method: "POST" });
      assert.equal((await set(await newestApiLink(service, "ivy@acme.example"), CHOSEN)).status, 200);
      assert.equal((await set(link, THIEF)).status, 404);
      assert.equal((await login("ivy@acme.example", THIEF)).status, 401);
      assert.equal((await login("ivy@acme.example", CHOSEN)).status, 200);

      const ida = await invite("ida@acme.example");
      for (const disabled of [true, false])
        await setUserStatus(service, { orgId: organisation.id, id: ida.id, disabled, actor: "test" });
      assert.equal((await set(ida.link, THIEF)).status, 404, "enabling brings no link back");
    });

    test("completes nothing for a mail scanner that accepts pages", async () => {
      await call("Authentication/User/Register", plain, {
        body: { Email: "scan@acme.example", Password: CHOSEN, Firstname: "S", Surname: "N" },
      });
      const link = await newestApiLink(running.service, "scan@acme.example");
      for (const accept of [
        "text/html,application/json;q=0.9,*/*;q=0.8",
        "*/*",
        "application/json-seq, text/html",
      ])
        assert.equal((await call(link, undefined, { headers: { accept } })).status, 303, accept);
      assert.equal((await call(link, undefined, { headers: json })).status, 200);
    });

    test("rejects roaming users of a disabled organisation", async () => {
      const { service } = running;
      const home = await makeOrganisation(service, "Home");
      const who = await withUser(service, home, "guest@home.example");
      await insertMembership(service.database.query, {
        orgId: org.organisation.id,
        userId: who.user.id,
        homeOrgId: home.organisation.id,
        role: "Standard",
        now: clock(),
      });
      const key = (await login("guest@home.example", PASSWORD)).body["Key"];
      assert.equal((await call(`Keys/User/${key}`)).status, 200);
      const disable = (disabled: boolean) =>
        setOrganisationStatus(service, { orgId: home.organisation.id, disabled, actor: "test" });
      await disable(true);
      const refused = await login("guest@home.example", PASSWORD);
      assert.deepEqual([refused.status, (await call(`Keys/User/${key}`)).status], [403, 401]);
      await disable(false);
      assert.equal((await login("guest@home.example", PASSWORD)).status, 200);
    });
  });
});
