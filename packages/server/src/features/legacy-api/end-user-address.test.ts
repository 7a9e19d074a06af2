// Who can lock whom out through an application's backend: its own address counts for nobody.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { giveAuthenticator } from "../../testing/fixtures/factors.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../testing/fixtures/system-account.ts";
import { withUser } from "../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const HOUR = 3_600_000;

describe("limits of sign-ins through a backend", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let looked = 0;
    const passwords = {
      ...quickPasswords,
      verify: (...given: Parameters<typeof quickPasswords.verify>) => {
        looked++;
        return quickPasswords.verify(...given);
      },
    };
    let running: TestService;
    let org: TestOrganisation;
    /** Of the same application: one may tell end users' addresses. */
    let plain: TestAccount;
    let trusted: TestAccount;
    let users = 0;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), clock, passwords, env: MAIL_ENV });
      org = await makeOrganisation(running.service);
      plain = await makeSystemAccount(running.service, org);
      trusted = await makeSystemAccount(running.service, org, { endUserAddress: true });
    });
    after(() => running.close());
    beforeEach(() => {
      clock.advance(2 * HOUR);
      looked = 0;
    });

    interface Login {
      readonly email?: string;
      readonly password?: string;
      readonly account?: TestAccount;
      /** The end user's address. */
      readonly from?: string;
      readonly code?: string;
    }
    async function login({ email, password = PASSWORD, account = plain, from, code }: Login) {
      const { status, body, headers } = await callApi(
        `${running.baseUrl}/legacy/api/Authentication/User/Login`,
        account,
        {
          body: {
            ...{ Email: email ?? org.user.email, Password: password },
            ...(code === undefined ? {} : { TwoFactorCode: code }),
          },
          headers: from === undefined ? {} : { "x-end-user-address": from },
        },
      );
      return { status, body, policy: headers.get("ratelimit-policy") ?? "" };
    }
    const wrong = (more: Login = {}) => login({ password: "wrong", ...more });
    const newEmail = async () =>
      (await withUser(running.service, org, `backend${users++}@acme.example`)).user.email;

    test("200 wrong logins for invented addresses don't stop the application", async () => {
      for (let at = 0; at < 200; at++)
        assert.equal((await wrong({ email: `invented-${at}@acme.example` })).status, 401);
      assert.equal((await login({})).status, 200);
    });

    test("an account is limited for the application, and for no other one of the same backend", async () => {
      const other = await makeClient(running.service, org.organisation, {});
      const applicationId = other.application.id;
      const elsewhere = await makeSystemAccount(running.service, org, { applicationId });
      for (let time = 0; time < 10; time++) await wrong();
      const locked = await login({});
      assert.equal(locked.status, 429);
      assert.match(locked.policy, /password-account/);
      assert.equal((await login({ account: elsewhere })).status, 200);
      assert.equal((await login({ email: await newEmail() })).status, 200, "others of the application");
    });

    test("24 correct logins at once all succeed and count nothing", async () => {
      const all = await Promise.all(Array.from({ length: 24 }, () => login({})));
      assert.deepEqual([...new Set(all.map(({ status }) => status))], [200]);
      for (let time = 0; time < 9; time++) await wrong();
      assert.equal((await login({})).status, 200, "and a success forgets the failures");
      for (let time = 0; time < 9; time++) await wrong();
      assert.equal((await login({})).status, 200);
    });

    test("of 60 wrong logins at once ten are looked at", async () => {
      const all = await Promise.all(Array.from({ length: 60 }, () => wrong()));
      assert.equal(looked, 10);
      assert.equal(all.filter(({ status }) => status === 429).length, 50);
    });

    test("a failing application is limited, and the end users whose addresses it tells are limited before", async () => {
      const { count } = running.service.config.rateLimits["password-application"];
      const limited = await startTestService({
        ...{ databaseUrl: await fresh(), clock, passwords },
        env: { SIGNET_RATE_LIMITS: "password-application=20/900" },
      });
      try {
        const its = await makeOrganisation(limited.service);
        const account = await makeSystemAccount(limited.service, its);
        const attempt = (Email: string, Password: string) =>
          callApi(`${limited.baseUrl}/legacy/api/Authentication/User/Login`, account, {
            body: { Email, Password },
          });
        for (let at = 0; at < 20; at++) await attempt(`invented-${at}@acme.example`, "wrong");
        const refused = await attempt(its.user.email, PASSWORD);
        assert.equal(refused.status, 429);
        assert.match(refused.headers.get("ratelimit-policy") ?? "", /password-application/);
      } finally {
        await limited.close();
      }
      const ofAddress = running.service.config.rateLimits["password-address"].count;
      assert.ok(count > ofAddress, "an outsider on one network is stopped before the application");
    });

    test("limits by the end user's address where the account may tell it, and counts with the sign-in page", async () => {
      for (let at = 0; at < 100; at++) {
        const email = `invented-${at}@acme.example`;
        assert.equal((await wrong({ account: trusted, from: "203.0.113.7", email })).status, 401);
      }
      const refused = await login({ account: trusted, from: "203.0.113.7" });
      assert.equal(refused.status, 429);
      assert.match(refused.policy, /password-address/);
      assert.equal((await login({ account: trusted, from: "203.0.113.8" })).status, 200);
      assert.equal((await login({ account: trusted })).status, 200, "a call that tells none");
    });

    test("one spelling of an address is as good as another", async () => {
      const spellings = ["2001:db8:0:1::1", "2001:0DB8:0000:0001:0:0:0:2", "2001:db8:0:1:ffff::"];
      for (let time = 0; time < 10; time++)
        assert.equal((await wrong({ account: trusted, from: spellings[time % 3] ?? "" })).status, 401);
      for (const from of spellings) assert.equal((await login({ account: trusted, from })).status, 429, from);
      assert.equal((await login({ account: trusted, from: "2001:db8:0:2::1" })).status, 200);
    });

    test("ignores the header of an account without the right", async () => {
      for (let time = 0; time < 10; time++) await wrong({ from: `203.0.113.${time}` });
      assert.equal((await login({ from: "203.0.113.99" })).status, 429, "inventing addresses gains nothing");
      assert.equal((await login({ account: trusted, from: "203.0.113.0" })).status, 200, "nor harms a user");
      assert.notEqual((await login({ from: "not an address", email: "x@acme.example" })).status, 422);
    });

    test("an address that is none is a fault of the caller", async () => {
      for (const from of [
        "",
        "not an address",
        "203.0.113.7, 198.51.100.1",
        "203.0.113.7:443",
        "fe80::1%eth0",
      ]) {
        const { status, body } = await login({ account: trusted, from });
        assert.equal(status, 422, from);
        assert.match(JSON.stringify(body), /X-End-User-Address/);
      }
    });

    test("the audit log and the limits of second factors use the end user's address", async () => {
      const from = "203.0.113.40";
      const many = await Promise.all(
        Array.from({ length: 5 }, async () => {
          const who = await withUser(running.service, org, `factor${users++}@acme.example`);
          return { who, app: await giveAuthenticator(running.service, who) };
        }),
      );
      for (const { who } of many)
        for (let time = 0; time < 10; time++)
          await login({ account: trusted, from, email: who.user.email, code: "000000" });
      const last = await withUser(running.service, org, `factor${users++}@acme.example`);
      const app = await giveAuthenticator(running.service, last);
      const { email } = last.user;
      const code = app.code(clock());
      assert.match((await login({ account: trusted, from, email, code })).policy, /second-factor-address/);
      assert.equal((await login({ email, code })).status, 200, "by the backend without an address");
      const events = await listAuditEvents(running.service.database.query, org.organisation.id, 20);
      assert.ok(events.some(({ action, address }) => action === "second-factor.failed" && address === from));
    });

    test("registrations and resets of one application don't stop those of another on the same backend", async () => {
      const other = await makeClient(running.service, org.organisation, {});
      const applicationId = other.application.id;
      const elsewhere = await makeSystemAccount(running.service, org, { applicationId });
      const reset = async (at: number, account: TestAccount, headers: Record<string, string> = {}) => {
        const path = `Authentication/User/nobody${at}@acme.example/PasswordReset`;
        return (await callApi(`${running.baseUrl}/legacy/api/${path}`, account, { body: {}, headers }))
          .status;
      };
      for (let at = 0; at < 60; at++) assert.equal(await reset(at, plain), 202);
      assert.equal(await reset(60, plain), 429);
      assert.equal(await reset(61, elsewhere), 202);
      assert.equal(await reset(62, trusted, { "x-end-user-address": "203.0.113.50" }), 202);
    });
  });
});
