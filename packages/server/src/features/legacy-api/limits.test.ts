/** The answers to too many attempts and to too many password hashes at once, of the calls beside the login. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { PasswordQueueFull } from "../../core/passwords/password-hasher.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { MAIL_ENV } from "../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestService,
} from "../../testing/test-service.ts";

describe("limits of the legacy API", () => {
  forEachDatabase(({ fresh }) => {
    let isFull = false;
    const passwords = {
      ...quickPasswords,
      verify: (...given: Parameters<typeof quickPasswords.verify>) => {
        if (isFull) throw new PasswordQueueFull();
        return quickPasswords.verify(...given);
      },
    };
    let running: TestService;
    let account: TestAccount;
    let email: string;
    before(async () => {
      const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS: "username-address=1/60,recovery-account=1/3600" };
      running = await startTestService({ databaseUrl: await fresh(), passwords, env });
      const org = await makeOrganisation(running.service);
      email = org.user.email;
      account = await makeSystemAccount(running.service, org);
    });
    after(() => running.close());

    const call = (path: string, body?: unknown) =>
      callApi(`${running.baseUrl}/legacy/api${path}`, account, body === undefined ? {} : { body });

    const assertLimited = async (limit: string, send: () => ReturnType<typeof call>) => {
      assert.ok((await send()).status < 300);
      const { status, body, headers } = await send();
      assert.equal(status, 429);
      assert.match(JSON.stringify(body), /"title":"Too many attempts"/);
      assert.ok(Number(headers.get("retry-after")) > 0);
      assert.match(headers.get("ratelimit-policy") ?? "", new RegExp(limit));
    };

    test("answers 429 to a username asked for too often", () =>
      assertLimited("username-address", () => call("/User/Username/Available/somebody")));

    test("answers 429 to a password reset asked for too often", () =>
      assertLimited("recovery-account", () => call(`/Authentication/User/${email}/PasswordReset`, {})));

    test("answers 503 while too many passwords are being checked", async () => {
      isFull = true;
      const { status, body, headers } = await call("/Authentication/User/Login", {
        Email: email,
        Password: PASSWORD,
      });
      isFull = false;
      assert.equal(status, 503);
      assert.match(JSON.stringify(body), /"title":"Too many users are signing in"/);
      assert.equal(headers.get("retry-after"), String(new PasswordQueueFull().retryAfterSeconds));
    });
  });
});
