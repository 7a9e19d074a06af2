// What others ask for uses up nobody's share of emailed codes; and what ends a code ends its link.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { createUser } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { MAIL_ENV, mailsTo, newestLink } from "../../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { follow, showsLogin, visit } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let count = 0;
  before(async () => {
    running = await startTestService({
      ...{ databaseUrl: await fresh(), passwords: quickPasswords, env: MAIL_ENV },
    });
    org = await makeOrganisation(running.service);
    const settings = { signInMethods: ["password", "emailCode", "magicLink"] as const };
    await changeOrganisationSettings(running.service, {
      ...{ orgId: org.organisation.id, settings, actor: "test" },
    });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const make = async (): Promise<TestOrganisation> => {
    const email = `user-${++count}@acme.example`;
    const id = await createUser(running.service, {
      ...{ organisation: org.organisation, email, password: PASSWORD, firstname: "Uma", surname: "Berg" },
      ...{ role: "Standard", emailVerified: true, actor: "test" },
    });
    return { ...org, user: { id, email, password: PASSWORD } };
  };
  const post = async (browser: TestBrowser, page: TestPage, path: string, form: Record<string, string>) =>
    follow(browser, await browser.post(`${org.issuer}/${path}`, { ...page.hidden, ...form }));
  const ask = async (browser: TestBrowser, email: string, act = "send") => {
    const second = await post(browser, await visit(browser, org), "login", { email });
    return post(browser, second, "email-code", { email, act });
  };
  const type = (browser: TestBrowser, page: TestPage, code: string) =>
    post(browser, page, "email-code", { "email-code": code });
  const newestCode = async (email: string): Promise<string> => {
    const codes = (await mailsTo(running.service, email)).flatMap(({ mail }) =>
      mail.template === "EmailCode" ? [mail.data.code] : [],
    );
    return codes.at(-1) ?? "";
  };

  test("five wrong codes end the link as well, and a link that has ended says what a sign-in link is", async () => {
    const own = await make();
    const [browser, mailClient] = [testBrowser(), testBrowser()];
    const waiting = await ask(browser, own.user.email, "send-link");
    const link = await newestLink(running.service, own.user.email);
    const page = await browser.get(link);
    for (let tried = 0; tried < 4; tried++) await type(browser, waiting, "no code");
    assert.match((await browser.get(link)).body, /id="magic-link-continue"/, "four tries leave it");
    await type(browser, waiting, "no code");
    for (const ended of [
      await browser.get(link),
      await browser.post(link, page.hidden),
      await mailClient.get(link),
    ]) {
      assert.equal(ended.status, 404);
      assert.match(ended.body, /A sign-in link works once, for 10 minutes/);
    }
    assert.ok(showsLogin(await visit(browser, org)));
  });

  test("a known browser keeps its own five, whatever others ask for from everywhere", async () => {
    const own = await make();
    const browser = testBrowser();
    await type(browser, await ask(browser, own.user.email), await newestCode(own.user.email));
    for (let sent = 0; sent < 6; sent++) await ask(testBrowser(), own.user.email);
    assert.equal((await ask(testBrowser(), own.user.email)).status, 429);
    const again = async () => {
      const page = await visit(browser, org, { more: { prompt: "login" } });
      const second = await post(browser, page, "login", { email: own.user.email });
      return post(browser, second, "email-code", { email: own.user.email, act: "send" });
    };
    for (let sent = 0; sent < 5; sent++) assert.equal((await again()).status, 200);
    assert.equal((await again()).status, 429, "and no more than that");
    // Of another address it is a browser like any other.
    const neighbour = await make();
    for (let sent = 0; sent < 5; sent++) await ask(testBrowser(), neighbour.user.email);
    const page = await visit(browser, org, { more: { prompt: "login" } });
    const second = await post(browser, page, "login", { email: neighbour.user.email });
    const asked = await post(browser, second, "email-code", { email: neighbour.user.email, act: "send" });
    assert.equal(asked.status, 429);
  });
});
