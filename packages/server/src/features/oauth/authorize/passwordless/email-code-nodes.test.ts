// Two nodes on one PostgreSQL: guesses at an emailed code count together, and code and link are used up at both.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { freshPostgres, type Scratch } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo, newestLink } from "../../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { follow, visit } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

describe("two nodes", () => {
  let clock: FakeClock;
  let database: Scratch;
  let nodes: readonly [TestService, TestService];
  let org: TestOrganisation;
  before(async () => {
    clock = fakeClock();
    database = await freshPostgres();
    const shared = { databaseUrl: database.url, clock, passwords: quickPasswords, env: MAIL_ENV };
    const first = await startTestService(shared);
    // One issuer: what one node seals, the other opens.
    nodes = [first, await startTestService({ ...shared, baseUrl: first.service.config.baseUrl })];
    org = await makeOrganisation(first.service);
    const settings = { signInMethods: ["password", "emailCode", "magicLink"] as const };
    await changeOrganisationSettings(first.service, {
      ...{ orgId: org.organisation.id, settings, actor: "test" },
    });
  });
  beforeEach(() => clock.advance(3_600_000));
  after(async () => {
    for (const node of nodes) await node.close();
    await database.remove();
  });

  const issuer = ({ baseUrl }: TestService) => `${baseUrl}/oauth/${org.organisation.id}`;
  const either = (index: number): TestService => nodes[index % 2 === 0 ? 0 : 1];
  const post = async (browser: TestBrowser, page: TestPage, path: string, form: Record<string, string>) =>
    follow(browser, await browser.post(`${issuer(nodes[0])}/${path}`, { ...page.hidden, ...form }));
  const ask = async (browser: TestBrowser, act: string) => {
    const first = await visit(browser, { ...org, issuer: issuer(nodes[0]) });
    const second = await post(browser, first, "login", { email: org.user.email });
    return post(browser, second, "email-code", { email: org.user.email, act });
  };
  const newestCode = async () => {
    const codes = (await mailsTo(nodes[0].service, org.user.email)).flatMap(({ mail }) =>
      mail.template === "EmailCode" ? [mail.data.code] : [],
    );
    return codes.at(-1) ?? "";
  };
  const sessions = async (): Promise<number> =>
    (
      await nodes[0].service.database.query
        .selectFrom("browser_session")
        .select("id")
        .where("org_id", "=", org.organisation.id)
        .where("user_id", "=", org.user.id)
        .where("created_at", "=", clock())
        .execute()
    ).length;

  test("five guesses in all, however many nodes are asked at once", async () => {
    const browser = testBrowser();
    const sent = await ask(browser, "send");
    const code = await newestCode();
    const wrong = code === "000000" ? "000001" : "000000";
    const type = (node: TestService, typed: string) =>
      browser.post(`${issuer(node)}/email-code`, { ...sent.hidden, "email-code": typed });
    await Promise.all(Array.from({ length: 12 }, (_, index) => type(either(index), wrong)));
    const failed = await nodes[0].service.database.query
      .selectFrom("audit_event")
      .select("id")
      .where("org_id", "=", org.organisation.id)
      .where("action", "=", "email-code.failed")
      .execute();
    assert.equal(failed.length, 5);
    for (const node of nodes) assert.equal((await type(node, code)).status, 401);
    assert.equal(await sessions(), 0);
  });

  test("a right code, and a link, that are sent to both nodes at once sign in once", async () => {
    const browser = testBrowser();
    const sent = await ask(browser, "send");
    const form = { ...sent.hidden, "email-code": await newestCode() };
    await Promise.all(
      Array.from({ length: 6 }, (_, index) => browser.post(`${issuer(either(index))}/email-code`, form)),
    );
    assert.equal(await sessions(), 1);
    clock.advance(3_600_000);
    const other = testBrowser();
    await ask(other, "send-link");
    const link = await newestLink(nodes[0].service, org.user.email);
    const page = await other.get(link);
    await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        other.post(link.replace(nodes[0].baseUrl, either(index).baseUrl), page.hidden),
      ),
    );
    assert.equal(await sessions(), 1);
  });
});
