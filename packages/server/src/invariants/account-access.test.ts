// Access to every account page, tried with an account that has a record of every kind.
// Cross-site and expired forms: features/account-ui/account-form.test.ts.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type TestBrowser, testBrowser } from "../testing/fakes/browser.ts";
import { fakeClock } from "../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../testing/fakes/mailbox.ts";
import { type SeededRecords, seedRecords } from "../testing/fixtures/planted-records.ts";
import {
  accountRecordPages,
  type Holder,
  seedRecordHolder,
  signInHolder,
} from "../testing/fixtures/records-in-states.ts";
import { follow, logIn, showsLogin } from "../testing/fixtures/visit.ts";
import { listRoutes } from "../testing/list-routes.ts";
import { dumpWholeDatabase } from "../testing/probes/dump-database.ts";
import { formsOn, type PageForm } from "../testing/probes/page-forms.ts";
import { recordAddress } from "../testing/probes/record-address.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";

const pages = [
  ...(await listRoutes())
    .filter(
      ({ method, path }) => method === "GET" && /^\/oauth\/:org\/(account\/|user\/consents$)/.test(path),
    )
    .map(({ path }) => path),
  ...accountRecordPages,
];
/** For those whose account is gone, whoever they are. */
const FOR_ANYBODY = "/oauth/:org/account/gone";

describe("access to the account pages", () => {
  const clock = fakeClock();
  let running: TestService;
  let org: SeededRecords;
  let holder: Holder;
  let browser: TestBrowser;
  before(async () => {
    const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS: "password-account=1000/60,password-address=1000/60" };
    running = await startTestService({ databaseUrl: "sqlite::memory:", clock, env });
    org = await seedRecords(running.service, "Acme");
    await begin();
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  /** Somebody new, signed in: what was tried may have ended the one before. */
  async function begin(): Promise<void> {
    holder = await seedRecordHolder(running.service, org, org.ids["applications"] ?? "");
    browser = await signInHolder(org, holder, holder.recoveryCodes[0] ?? "");
  }

  const addressOf = (path: string) =>
    running.baseUrl +
    (recordAddress(path, org.organisation.id, { ...org.ids, ...holder.ids }) ?? assert.fail(path));

  const isOurs = ({ action }: PageForm) => !action.endsWith("/end_session");
  const formsOf = async (path: string): Promise<PageForm[]> =>
    formsOn((await browser.get(addressOf(path))).body).filter(isOurs);

  async function kept(): Promise<string> {
    const lines = (await dumpWholeDatabase(running.service.database.query)).split("\n");
    return lines.filter((line) => !/^(audit_|activity|rate_limit|background_)/.test(line)).join();
  }

  async function signedIn(user: SeededRecords["user"]): Promise<TestBrowser> {
    const other = testBrowser();
    const signInPage = await follow(other, await other.get(`${org.issuer}/account/security`));
    await logIn(other, { ...org, user }, signInPage);
    return other;
  }

  test("shows a signed-out visitor the sign-in page and no account data", async () => {
    for (const path of pages) {
      const stranger = testBrowser();
      const page = await follow(stranger, await stranger.get(addressOf(path)));
      assert.ok(showsLogin(page) || path === FOR_ANYBODY, path);
      assert.ok(!page.body.includes(holder.user.email), path);
    }
  });

  test("another user's records are not found, and their forms change nothing", async () => {
    const forms = (await Promise.all(accountRecordPages.map(formsOf))).flat();
    assert.ok(forms.length >= accountRecordPages.length, `${forms.length} forms`);
    for (const user of [org.user, org.administrator]) {
      const other = await signedIn(user);
      const csrf = formsOn((await other.get(addressOf("/oauth/:org/account/profile"))).body)[0]?.fields[
        "csrf"
      ];
      assert.ok(csrf);
      const before = await kept();
      for (const path of accountRecordPages)
        assert.equal((await other.get(addressOf(path))).status, 404, path);
      for (const { action, fields } of forms) {
        const answer = await other.post(running.baseUrl + action, { ...fields, csrf });
        assert.ok(answer.status < 500 && !answer.body.includes(holder.user.email), action);
      }
      assert.equal(await kept(), before);
    }
  });

  test("every form works for the authenticated user", async () => {
    const idle: string[] = [];
    const pressed = new Set<string>();
    for (const path of pages) {
      const count = (await formsOf(path)).length;
      for (let index = 0; index < count; index += 1) {
        const form = (await formsOf(path))[index];
        assert.ok(form, path);
        const before = await kept();
        const other = path.endsWith(":passkey") ? { name: "Next" } : { surname: "Next" };
        const answer = await browser.post(running.baseUrl + form.action, { ...form.fields, ...other });
        assert.ok(answer.status < 500, form.action);
        pressed.add(path);
        if ((await kept()) === before) idle.push(path.replace("/oauth/:org", ""));
        await begin();
      }
    }
    assert.ok(pressed.size >= 12, [...pressed].join());
    assert.deepEqual(idle, asksForMore);
  });
});

/** They want what no page can know, a password, an address, a code or a passkey; and one gives a file, which is only audited. */
const asksForMore = [
  "/account/address",
  "/account/password",
  "/account/security/authenticator",
  "/account/security/passkeys",
  "/account/data",
];
