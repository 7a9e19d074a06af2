/** The user's home lists what this user may open, and nothing else; and how well the account is protected. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assignUser } from "../../../core/application-access/application-access.ts";
import type { ApplicationSettings } from "../../../core/applications/application.ts";
import { createApplication, setApplicationStatus } from "../../../core/applications/applications.ts";
import { insertMembership } from "../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { giveAuthenticator, showFactor } from "../../../testing/fixtures/factors.ts";
import { follow, logIn, showsLogin, withUser } from "../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { isOpenableHomepage, listUsableApplications } from "./usable-applications.ts";

test("a home page is https, or on this computer", () => {
  for (const uri of [
    "https://app.example/x?y",
    "http://localhost:3000/",
    "http://127.0.0.1",
    "http://[::1]:1/",
  ])
    assert.ok(isOpenableHomepage(uri), uri);
  for (const uri of [
    undefined,
    "",
    "app.example",
    "http://app.example/",
    "http://localhost.evil.example/",
    "https://user:secret@app.example/",
    "javascript:alert(1)",
    "data:text/html,x",
  ])
    assert.ok(!isOpenableHomepage(uri), String(uri));
});

describe("the user's home", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let base: TestOrganisation;
    let people = 0;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
      base = await makeOrganisation(running.service, "Acme");
    });
    after(() => running.close());

    const app = (org: TestOrganisation, name: string, settings: Partial<ApplicationSettings> = {}) =>
      createApplication(running.service, {
        orgId: org.organisation.id,
        name,
        clientType: "confidential",
        actor: "test",
        settings: { redirectUris: [REDIRECT_URI], homepageUri: homeAt(name), ...settings },
      });
    const homeAt = (name: string) => `https://${name.toLowerCase().replaceAll(" ", "-")}.example/`;
    const person = () => withUser(running.service, base, `home-${people++}@acme.example`);
    const openHome = async (browser: TestBrowser, { issuer }: TestOrganisation, query = "") =>
      follow(browser, await browser.get(`${issuer}/account${query}`));
    async function homeOf(org: TestOrganisation, query = "") {
      const browser = testBrowser();
      await logIn(browser, org, await openHome(browser, org));
      return openHome(browser, org, query);
    }
    const namesOn = ({ body }: { body: string }) =>
      [...body.matchAll(/id="app-[^"]+"[\s\S]*?class="app-name">([^<]+)</g)].map(([, name]) => name);

    test("lists permitted, enabled applications with a safe home page, sorted; others' never", async () => {
      const org = await makeOrganisation(running.service, "Fleet");
      const other = await makeOrganisation(running.service, "Other");
      await app(other, "Foreign");
      await app(org, "payroll");
      await app(org, "Ärzte");
      await app(org, "Desk", { homepageUri: "http://localhost:3000/" });
      await app(org, "Plain", { homepageUri: "http://plain.example/" });
      await makeClient(running.service, org.organisation, { redirectUris: [REDIRECT_URI] });
      const closed = await app(org, "Closed", { access: "assigned" });
      const off = await app(org, "Off");
      const orgId = org.organisation.id;
      await setApplicationStatus(running.service, { orgId, id: off.id, actor: "test", disabled: true });
      const page = await homeOf(org);
      assert.equal(page.status, 200);
      assert.deepEqual(namesOn(page), ["Ärzte", "Desk", "payroll"]);
      assert.match(page.body, /href="https:\/\/payroll\.example\/"/);
      assert.doesNotMatch(page.body, /id="q"/, "so few need no search");

      const assignment = { orgId, applicationId: closed.id, userId: org.user.id };
      assert.equal(await assignUser(running.service, { ...assignment, actor: "test" }), true);
      assert.deepEqual(namesOn(await homeOf(org)), ["Ärzte", "Closed", "Desk", "payroll"]);
    });

    test("hundreds of applications are a few queries, whoever may use them", async () => {
      const org = await makeOrganisation(running.service, "Hundreds");
      const mine = await app(org, "Mine", { access: "assigned" });
      for (let index = 0; index < 30; index++) await app(org, `App ${index}`, { access: "assigned" });
      const { id: orgId } = org.organisation;
      const assignment = { orgId, applicationId: mine.id, userId: org.user.id };
      await assignUser(running.service, { ...assignment, actor: "test" });
      let queries = 0;
      const counted = running.service.database.query.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          queries++;
          return result;
        },
      });
      const found = await listUsableApplications(counted, { orgId, userId: org.user.id, locale: "en" });
      assert.deepEqual(
        found.map(({ name }) => name),
        ["Mine"],
      );
      assert.ok(queries <= 3, `${queries} queries`);
    });

    test("has a search from 13 applications on", async () => {
      const org = await makeOrganisation(running.service, "Many");
      for (let index = 10; index < 23; index++)
        await app(org, `App ${index}`, { description: `Number ${index}` });
      const all = await homeOf(org);
      assert.equal(namesOn(all).length, 13);
      assert.match(all.body, /<form class="search" method="get"[\s\S]*id="q"/);
      assert.deepEqual(namesOn(await homeOf(org, "?q=number+21")), ["App 21"]);
      const none = await homeOf(org, "?q=%3Cscript%3E");
      assert.deepEqual(namesOn(none), []);
      assert.match(none.body, /id="my-apps-none"/);
      assert.doesNotMatch(none.body, /<script>/);
    });

    test("shows password, second factor, passkeys, recovery codes and sessions", async () => {
      const org = await person();
      const fact = (body: string, id: string) =>
        new RegExp(`<dd id="${id}">([\\s\\S]*?)</dd>`).exec(body)?.[1]?.replaceAll(/<[^>]*>/g, "");
      const weak = (await homeOf(org)).body;
      assert.equal(fact(weak, "my-factor"), "Off");
      assert.equal(fact(weak, "my-passkeys"), "0");
      assert.equal(fact(weak, "my-codes"), undefined);
      assert.match(fact(weak, "my-sessions") ?? "", /^1 active session$/);
      const authenticator = await giveAuthenticator(running.service, org);
      const browser = testBrowser();
      const asked = await logIn(browser, org, await openHome(browser, org));
      const code = await authenticator.code(running.service.clock());
      const strong = (await showFactor(browser, org, asked, { code })).body;
      assert.equal(fact(strong, "my-factor"), "On");
      assert.match(fact(strong, "my-codes") ?? "", /^\d+ of 10 left$/);
      assert.match(fact(strong, "my-sessions") ?? "", /^2 active sessions$/);
    });

    test("a guest sees the applications there, and the way to the other organisations", async () => {
      const host = await makeOrganisation(running.service, "Host");
      await app(host, "Guesthouse");
      const org = await person();
      const { id: orgId } = host.organisation;
      const roaming = { orgId, userId: org.user.id, homeOrgId: org.organisation.id };
      await insertMembership(running.service.database.query, { ...roaming, role: "Standard", now: 1 });
      const abroad = await homeOf({ ...host, user: org.user });
      assert.deepEqual(namesOn(abroad), ["Guesthouse"]);
      assert.doesNotMatch(abroad.body, /id="my-factor"/, "the account is protected at home");
      assert.match(abroad.body, new RegExp(`href="/oauth/${org.organisation.id}/account"`));
      const home = await homeOf(org);
      assert.match(home.body, new RegExp(`href="/oauth/${orgId}/account"`));
      assert.ok(!namesOn(home).includes("Guesthouse"));
    });

    test("without a session it asks for the sign-in", async () => {
      assert.ok(showsLogin(await openHome(testBrowser(), base)));
    });
  });
});
