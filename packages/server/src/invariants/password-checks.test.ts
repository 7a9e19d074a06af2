// Every place that checks a password has the same limits: right ones never count, wrong ones sent at once are looked at no
// more often than the limit allows, and an account that doesn't exist is treated like one that does.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../testing/fixtures/system-account.ts";
import { follow, logIn, visit, withUser } from "../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

const RETURN_URL = "https://shop.example/back";
const HOUR = 3_600_000;

type Result = "right" | "wrong" | "limited" | number;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let federated: string;
  let account: TestAccount;
  let clock: FakeClock;
  let looked = 0;
  let users = 0;
  before(async () => {
    clock = fakeClock();
    const passwords = {
      ...quickPasswords,
      verify: (...given: Parameters<typeof quickPasswords.verify>) => {
        looked++;
        return quickPasswords.verify(...given);
      },
    };
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords });
    org = await makeOrganisation(running.service);
    const client = await makeClient(running.service, org.organisation, { returnUrls: [RETURN_URL] });
    federated = client.application.id;
    account = await makeSystemAccount(running.service, org);
  });
  after(() => running.close());

  const newUser = () => withUser(running.service, org, `checks${users++}@acme.example`);
  const resultOf = (status: number, isRight: boolean): Result =>
    status === 429 ? "limited" : isRight ? "right" : status === 401 || status === 400 ? "wrong" : status;
  const loginPage = async (address: string, browser: TestBrowser = testBrowser()) => ({
    browser,
    page: await follow(browser, await browser.get(address)),
  });
  async function submitLogin(
    { browser, page }: Awaited<ReturnType<typeof loginPage>>,
    email: string,
    password: string,
  ) {
    const answer = await browser.post(`${org.issuer}/login`, { ...page.hidden, email, password });
    return resultOf(answer.status, answer.status === 303);
  }
  const confirmAddress = () => `${running.baseUrl}/oauth/${org.organisation.id}/account/password`;
  async function signedIn({ user }: TestOrganisation): Promise<TestBrowser> {
    const browser = testBrowser();
    await logIn(browser, { ...org, user }, await visit(browser, org));
    return browser;
  }

  /** Made for one user; each call is one check of a password for them. */
  const places: Record<string, (who: TestOrganisation) => Promise<(password: string) => Promise<Result>>> = {
    "the sign-in page":
      async ({ user }) =>
      async (password) => {
        const browser = testBrowser();
        return submitLogin({ browser, page: await visit(browser, org) }, user.email, password);
      },
    "the federation's sign-in":
      async ({ user }) =>
      async (password) => {
        const query = new URLSearchParams({ appId: federated, returnUrl: RETURN_URL });
        const shown = await loginPage(`${running.baseUrl}/federation/Login?${query}`);
        return submitLogin(shown, user.email, password);
      },
    "a reauthentication": async (who) => {
      const browser = await signedIn(who);
      clock.advance(11 * 60_000);
      return async (password) => {
        const shown = await loginPage(confirmAddress(), browser);
        return submitLogin(shown, who.user.email, password);
      };
    },
    "the account page's current password": async (who) => {
      const browser = await signedIn(who);
      return async (present) => {
        const { page } = await loginPage(confirmAddress(), browser);
        const answer = await browser.post(confirmAddress(), { ...page.hidden, present, password: "short" });
        // The new one is refused only after the current one was right.
        return resultOf(answer.status, /id="password-fault"/.test(answer.body));
      };
    },
    "User/Login":
      async ({ user }) =>
      async (Password) => {
        const url = `${running.baseUrl}/legacy/api/Authentication/User/Login`;
        const { status } = await callApi(url, account, { body: { Email: user.email, Password } });
        return resultOf(status, status === 200);
      },
  };

  const times = <Item>(count: number, item: () => Promise<Item>): Promise<Item[]> =>
    Promise.all(Array.from({ length: count }, item));

  for (const [place, of] of Object.entries(places)) {
    test(`${place}: 24 right passwords at once are all accepted, and count nothing`, async () => {
      clock.advance(2 * HOUR);
      const check = await of(await newUser());
      if (place === "a reauthentication") {
        // The first one signs in again; there is nothing to confirm after it.
        assert.equal(await check(PASSWORD), "right");
      } else assert.deepEqual(new Set(await times(24, () => check(PASSWORD))), new Set(["right"]));
      clock.advance(11 * 60_000);
      const next = await of(await newUser());
      for (let time = 0; time < 9; time++) assert.equal(await next("wrong"), "wrong");
      assert.equal(await next(PASSWORD), "right");
    });

    test(`${place}: of 40 wrong passwords at once ten are looked at`, async () => {
      clock.advance(2 * HOUR);
      const check = await of(await newUser());
      looked = 0;
      const results = await times(40, () => check("wrong"));
      assert.equal(looked, 10);
      assert.deepEqual(
        ["wrong", "limited"].map((kind) => results.filter((result) => result === kind).length),
        [10, 30],
      );
      assert.equal(await check(PASSWORD), "limited");
    });
  }

  test("an address without an account waits, counts and is refused like one with an account", async () => {
    clock.advance(2 * HOUR);
    const seen = [];
    for (const email of [(await newUser()).user.email, `nobody${users++}@acme.example`]) {
      const check = await places["the sign-in page"]?.({ ...org, user: { ...org.user, email } });
      assert.ok(check);
      looked = 0;
      const results = await times(20, () => check("wrong"));
      seen.push({ looked, results: results.sort(), after: await check("wrong") });
    }
    assert.deepEqual(seen[1], seen[0]);
  });
});
