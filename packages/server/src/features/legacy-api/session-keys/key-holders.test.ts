/** What holders of session keys can do, and what system accounts see of users and applications. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { changeApplication } from "../../../core/applications/application-changes.ts";
import { createApplication, setApplicationStatus } from "../../../core/applications/applications.ts";
import { issueSessionKey } from "../../../core/session-keys/session-keys.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import { signIn } from "../../../core/sessions/sessions.ts";
import { grantApplication } from "../../../core/system-accounts/system-accounts.ts";
import { setUsername } from "../../../core/users/account.store.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { refresh } from "../../../testing/fixtures/client.ts";
import { convertedKey, makeSessionKey } from "../../../testing/fixtures/session-key.ts";
import {
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../../testing/fixtures/system-account.ts";
import { showsLogin, tokensOf, visit, withUser } from "../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

describe("holders of session keys", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let running: TestService;
    let org: TestOrganisation;
    let plain: TestAccount;
    let administrator: TestAccount;
    before(async () => {
      const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS: "username-address=5/60" };
      running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords, env });
      org = await makeOrganisation(running.service);
      plain = await makeSystemAccount(running.service, org);
      administrator = await makeSystemAccount(running.service, org, { administrator: true });
    });
    after(() => running.close());

    let users = 0;
    const newUser = () => withUser(running.service, org, `user${users++}@acme.example`);
    const call = (path: string, account?: TestAccount, asked: ApiRequest = {}) =>
      callApi(`${running.baseUrl}/legacy/api/${path}`, account, asked);
    const logout = (Key: string, path = "") =>
      call(`Authentication/User/Logout${path}`, undefined, { body: { Key } });
    const lives = async (key: string) =>
      (await call(`Authentication/Account/VerifyIdentity/${key}`)).status === 200;

    test("returns the current user of a session key by path or query", async () => {
      const who = await newUser();
      const key = await makeSessionKey(running.service, who);
      for (const path of [`/${key}`, `?key=${key}`]) {
        const { status, body } = await call(`Authentication/Account/VerifyIdentity${path}`);
        assert.equal(status, 200);
        assert.deepEqual(
          [body["Verified"], (body["User"] as Record<string, unknown>)["PermId"], body["Amr"]],
          [true, who.user.id, ["pwd"]],
        );
        assert.equal(Date.parse(String(body["AuthTime"])), clock());
      }
      assert.equal((await call("Authentication/Account/VerifyIdentity")).status, 401);
    });

    test("revokes the key and its browser session on Logout, and no other", async () => {
      const who = await newUser();
      const { service } = running;
      const user = await findUser(service.database.query, org.organisation.id, who.user.id);
      assert.ok(user);
      const proven = { amr: ["pwd"], acr: acrValues.password, address: "192.0.2.1" };
      const { session } = await signIn(service, {
        ...{ organisation: org.organisation, user, ...proven, userAgent: "", before: undefined },
      });
      const made = { orgId: user.orgId, applicationId: org.web.application.id, userId: user.id };
      const { secret } = await service.database.transaction((tx) =>
        issueSessionKey(tx, { ...made, sessionId: session.id, ...proven, authTime: clock(), now: clock() }),
      );
      const other = await makeSessionKey(service, who);
      assert.equal((await logout(secret)).status, 204);
      assert.equal((await logout(secret)).status, 401, "it is over");
      assert.ok(await lives(other));
      const row = await service.database.query
        .selectFrom("browser_session")
        .select("ended_at")
        .where("id", "=", session.id)
        .executeTakeFirst();
      assert.equal(row?.ended_at, clock());
      assert.equal((await logout(other, "/false")).status, 204);
      assert.equal((await logout(await makeSessionKey(service, who), "/maybe")).status, 404);
    });

    test("revokes sessions, keys and refresh tokens on Logout everywhere", async () => {
      for (const word of ["true", "everywhere"]) {
        const who = await newUser();
        const browser = testBrowser();
        const tokens = await tokensOf(browser, who);
        const settings = { allowPermanentKeys: true };
        const { application } = await makeClient(running.service, org.organisation, settings);
        const key = await makeSessionKey(running.service, who, application);
        const temporary = await convertedKey(running.service, key, "UserTemp");
        const permanent = await convertedKey(running.service, key, "UserPerm");
        const bystander = await makeSessionKey(running.service, org);
        const handedOn = await logout(temporary, `/${word}`);
        assert.deepEqual([handedOn.status, handedOn.body["type"]], [403, "urn:signet:error:temporary-key"]);
        for (const one of [key, temporary, permanent]) assert.ok(await lives(one), "before");
        assert.equal((await logout(key, `/${word}`)).status, 204);
        for (const one of [key, temporary, permanent]) assert.ok(!(await lives(one)), word);
        assert.equal((await refresh(who, tokens.refreshToken)).body["error"], "invalid_grant");
        assert.ok(showsLogin(await visit(browser, who)));
        assert.ok(await lives(bystander));
      }
    });

    test("returns the application's own settings on request", async () => {
      const who = await newUser();
      const { service } = running;
      const key = await makeSessionKey(service, who);
      const path = `User/Profile/${org.web.application.id}/${key}`;
      const plainProfile = await call(path);
      assert.deepEqual([plainProfile.body["PermId"], "Settings" in plainProfile.body], [who.user.id, false]);
      assert.deepEqual((await call(`${path}/true`)).body["Settings"], {});
      const Settings = { theme: "dark", text: "\\u0000", nested: { list: [1] } };
      assert.equal(
        (await call(path, undefined, { method: "PUT", body: { Settings } })).status,
        401,
        "unsigned",
      );
      const put = await call(path, plain, { method: "PUT", body: { Settings } });
      assert.deepEqual([put.status, put.body], [200, { Settings }]);
      assert.deepEqual((await call(`${path}/extendSetting`)).body["Settings"], Settings);
      await call(path, plain, { method: "PUT", body: { Settings: {} } });
      assert.deepEqual((await call(`${path}/true`)).body["Settings"], {}, "replaced, not merged");

      const elsewhere = `User/Profile/${org.native.id}`;
      assert.equal((await call(`${elsewhere}/${key}/true`)).status, 401, "the key is another application's");
      assert.equal((await call(`User/Profile/${randomUUID()}/${key}`)).status, 401);
    });

    test("opens another application's profile by a temporary key with that application's signature only", async () => {
      const who = await newUser();
      const { service } = running;
      const key = await makeSessionKey(service, who);
      const handed = await convertedKey(service, key, "UserTemp");
      const native = await makeSystemAccount(service, org, { applicationId: org.native.id });
      const elsewhere = `User/Profile/${org.native.id}/${handed}`;
      const Settings = { private: "of the other application" };
      const write = { method: "PUT", body: { Settings } };
      assert.equal((await call(elsewhere, native, write)).status, 200);
      for (const path of [elsewhere, `${elsewhere}/true`])
        for (const by of [undefined, plain, administrator]) {
          const { status, text } = await call(path, by);
          assert.equal(status, 401, path);
          assert.ok(!text.includes("private"));
        }
      assert.equal((await call(elsewhere, plain, write)).status, 401, "not the account's");
      assert.deepEqual((await call(`${elsewhere}/true`, native)).body["Settings"], Settings);
      const { id, orgId } = org.native;
      const admits = (access: "everyone" | "assigned") =>
        changeApplication(service, { orgId, id, actor: "test" }, ({ name, settings }) => ({
          ...{ name, disabled: false, settings: { ...settings, access } },
        }));
      await admits("assigned");
      assert.equal((await call(elsewhere, native)).status, 403, "to whom it does not admit");
      await admits("everyone");
      const own = `User/Profile/${org.web.application.id}/${handed}/true`;
      assert.deepEqual((await call(own)).body["Settings"], {}, "its own application's");
      const ofKey = `User/Profile/${org.native.id}/${key}`;
      assert.equal((await call(ofKey, native)).status, 401, "a key that is not handed on");
      const strange = await makeSessionKey(service, who, org.native);
      const otherWay = await convertedKey(service, strange, "UserTemp");
      assert.equal((await call(`User/Profile/${org.web.application.id}/${otherWay}/true`)).status, 401);
    });

    test("lists active service sessions that the account may see, by page", async () => {
      const who = await newUser();
      const keys: string[] = [];
      for (let time = 0; time < 3; time += 1) keys.push(await makeSessionKey(running.service, who));
      await makeSessionKey(running.service, who, org.native);
      const list = `User/${who.user.id}/ServiceSessions`;
      const first = await call(`${list}?limit=2`, plain);
      const cursor = String(first.body["nextCursor"]);
      const second = await call(`${list}?limit=2&cursor=${cursor}`, plain);
      const items = [first, second].flatMap(({ body }) => body["items"] as Array<Record<string, unknown>>);
      assert.deepEqual([items.length, second.body["nextCursor"]], [3, null]);
      assert.deepEqual(Object.keys(items[0] ?? {}), [
        ...["Id", "ApplicationId", "Kind", "CreatedAt", "LastSeenAt", "ExpiresAt"],
      ]);
      const visible = async (by: TestAccount) =>
        ((await call(list, by)).body["items"] as Array<Record<string, unknown>>).length;
      assert.equal(await visible(administrator), 3, "an administrator's account has no more");
      const both = await makeSystemAccount(running.service, org);
      const granted = { orgId: org.organisation.id, id: both.id, applicationId: org.native.id };
      await grantApplication(running.service, { ...granted, actor: "test" });
      assert.equal(await visible(both), 4);
      await logout(keys[0] ?? "");
      assert.equal(((await call(list, plain)).body["items"] as unknown[]).length, 2);
    });

    test("reports whether a username is available in any spelling, and limits the requests", async () => {
      const who = await newUser();
      const ask = (name: string) => call(`User/Username/Available/${encodeURIComponent(name)}`, plain);
      assert.deepEqual((await ask("ada.l")).body, { Available: true });
      const key = { orgId: org.organisation.id, id: who.user.id };
      assert.ok(await setUsername(running.service.database.query, key, "ada.l", clock()));
      for (const name of ["ada.l", " ADA.L ", "ａｄａ.l"])
        assert.deepEqual((await ask(name)).body, { Available: false }, name);
      const other = { orgId: org.organisation.id, id: org.user.id };
      assert.equal(await setUsername(running.service.database.query, other, "ada.l", clock()), false);
      assert.equal((await ask("other")).status, 200);
      const limited = await ask("one.more");
      assert.equal(limited.status, 429);
      assert.match(limited.headers.get("ratelimit-policy") ?? "", /username-address/);
      clock.advance(60_000);
    });

    test("lists enabled applications by page", async () => {
      const { service } = running;
      const own = await makeOrganisation(service);
      const member = await makeSystemAccount(service, own);
      const manager = await makeSystemAccount(service, own, { administrator: true });
      const disabled = (await makeClient(service, own.organisation, {})).application;
      await setApplicationStatus(service, {
        orgId: own.organisation.id,
        id: disabled.id,
        disabled: true,
        actor: "test",
      });
      const made = { orgId: own.organisation.id, clientType: "native", actor: "test" } as const;
      const settings = { redirectUris: ["com.example.x:/cb"], homepageUri: "https://x.example/" };
      const { id } = await createApplication(service, { ...made, name: "X", settings });
      const all = async (path: string, account: TestAccount) => {
        const found: Array<Record<string, unknown>> = [];
        for (let cursor = ""; ; ) {
          const { body } = await call(`${path}?limit=1${cursor}`, account);
          found.push(...(body["items"] as Array<Record<string, unknown>>));
          if (body["nextCursor"] === null) return found;
          cursor = `&cursor=${String(body["nextCursor"])}`;
        }
      };
      const listed = await all("Organisation/Application/List", member);
      assert.equal(new Set(listed.map((one) => one["ApplicationId"])).size, 4);
      assert.ok(listed.every((one) => one["ApplicationId"] !== disabled.id));
      assert.equal(listed.find((one) => one["ApplicationId"] === id)?.["Url"], "https://x.example/");
      const path = `Organisations/${own.web.application.id}/${own.organisation.id}/application/list`;
      assert.deepEqual(await all(path, member), listed);
      const mine = await all("Organisation/External/Application/List", member);
      assert.deepEqual(
        mine.map((one) => one["ApplicationId"]),
        [own.web.application.id],
      );
      const external = () => all("Organisation/External/Application/List", manager);
      assert.deepEqual(await external(), mine, "an administrator's account has no more");
      const grant = { orgId: own.organisation.id, id: manager.id, applicationId: id, actor: "test" };
      await grantApplication(service, grant);
      assert.equal((await external()).length, 2);
    });

    test("keeps session keys out of the logs", () => {
      assert.ok(!JSON.stringify(running.lines).includes("sgn_sk_"));
      assert.deepEqual(running.errors, []);
    });
  });
});
