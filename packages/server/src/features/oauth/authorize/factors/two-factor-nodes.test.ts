// Two nodes on one PostgreSQL: what is used up at one is used up at the other, and they count together.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { freshPostgres, type Scratch } from "../../../../testing/databases.ts";
import { testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  type AuthenticatorApp,
  giveAuthenticator,
  showFactor,
  showsTwoFactor,
} from "../../../../testing/fixtures/factors.ts";
import { logIn, showsConsent, visit, withUser } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

describe("two nodes", () => {
  let clock: FakeClock;
  let database: Scratch;
  let nodes: TestService[];
  let org: TestOrganisation;
  let app: AuthenticatorApp;
  before(async () => {
    clock = fakeClock();
    database = await freshPostgres();
    const { url } = database;
    const first = await startTestService({ databaseUrl: url, clock, passwords: quickPasswords });
    // One issuer: what one node seals, the other opens.
    const { baseUrl } = first.service.config;
    const second = await startTestService({ databaseUrl: url, clock, passwords: quickPasswords, baseUrl });
    nodes = [first, second];
    org = await makeOrganisation(first.service);
    app = await giveAuthenticator(first.service, org);
  });
  after(async () => {
    for (const node of nodes) await node.close();
    await database.remove();
  });

  const at = ({ baseUrl }: TestService): TestOrganisation => ({
    ...org,
    issuer: `${baseUrl}/oauth/${org.organisation.id}`,
  });
  const [one, two] = [() => nodes[0] as TestService, () => nodes[1] as TestService];
  async function waiting(node: TestService) {
    const browser = testBrowser();
    const page = await logIn(browser, at(node), await visit(browser, at(node)));
    assert.ok(showsTwoFactor(page));
    return { browser, page };
  }

  test("a code used at one node is rejected at the other", async () => {
    const code = app.code(clock());
    const first = await waiting(one());
    assert.ok(showsConsent(await showFactor(first.browser, at(one()), first.page, { code })));
    const second = await waiting(two());
    assert.equal((await showFactor(second.browser, at(two()), second.page, { code })).status, 401);
  });

  test("of two concurrent uses of a code at two nodes, one succeeds", async () => {
    clock.advance(120_000);
    const code = app.code(clock());
    const people = await Promise.all(
      Array.from({ length: 8 }, (_, index) => waiting(index % 2 ? one() : two())),
    );
    const pages = await Promise.all(
      people.map(({ browser, page }, index) =>
        showFactor(browser, at(index % 2 ? one() : two()), page, { code }),
      ),
    );
    assert.equal(pages.filter(showsConsent).length, 1);
  });

  test("a pending sign-in of one node is completed at the other, once", async () => {
    clock.advance(120_000);
    const { browser, page } = await waiting(one());
    const copy = testBrowser();
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    assert.ok(showsConsent(await showFactor(browser, at(two()), page, { code: app.code(clock()) })));
    clock.advance(60_000);
    const again = await showFactor(copy, at(one()), page, { code: app.code(clock()) });
    assert.ok(!showsConsent(again));
    assert.equal(again.status, 403);
  });

  test("wrong codes at both nodes share one count", async () => {
    clock.advance(2 * 3_600_000);
    const people = await Promise.all([waiting(one()), waiting(two())]);
    const guesses = Array.from({ length: 16 }, (_, index) => {
      const { browser, page } = people[index % 2] as Awaited<ReturnType<typeof waiting>>;
      return showFactor(browser, at(index % 2 ? two() : one()), page, { code: "12345" });
    });
    const pages = await Promise.all(guesses);
    assert.equal(pages.filter(({ status }) => status === 429).length, 6);
  });

  test("60 wrong codes for one's own account at both nodes don't stop another user of the network", async () => {
    clock.advance(2 * 3_600_000);
    const { service } = one();
    const own = await withUser(service, org, "own@acme.example");
    await giveAuthenticator(service, own);
    const other = await withUser(service, org, "other@acme.example");
    const otherApp = await giveAuthenticator(service, other);
    const signInAs = async ({ user }: TestOrganisation, node: TestService) => {
      const browser = testBrowser();
      const its = { ...at(node), user };
      return { browser, its, page: await logIn(browser, its, await visit(browser, its)) };
    };
    const people = await Promise.all([signInAs(own, one()), signInAs(own, two())]);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const { browser, its, page } = people[index % 2] as Awaited<ReturnType<typeof signInAs>>;
        return showFactor(browser, its, page, { code: "000000" });
      }),
    );
    assert.equal(answers.filter(({ status }) => status === 401).length, 10);
    for (const node of [one(), two()]) {
      const { browser, its, page } = await signInAs(other, node);
      assert.ok(showsConsent(await showFactor(browser, its, page, { code: otherApp.code(clock()) })));
      clock.advance(60_000);
    }
  });
});
