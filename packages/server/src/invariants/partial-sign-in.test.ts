// No session exists between password and second factor: tested on every registered route. A new
// route is covered automatically.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Application } from "../core/applications/application.ts";
import { CONSOLE } from "../page-kit/page.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../testing/fakes/browser.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import { giveAuthenticator, showFactor, showsTwoFactor } from "../testing/fixtures/factors.ts";
import { federate, keyOf, makeFederatedApp, RETURN_URL } from "../testing/fixtures/federation.ts";
import {
  logIn,
  requestQuery,
  sessionCookie,
  showsConsent,
  tokensOf,
  visit,
} from "../testing/fixtures/visit.ts";
import { listRoutes } from "../testing/list-routes.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

const routes = (await listRoutes()).filter(({ method }) => method === "GET" || method === "POST");
/** What reads the state of a sign-in from the database. The others have the same answer before they ask it: once is enough. */
const READS_SIGN_INS = /authorize|login|twofactor|passkey|consent|end_session|federation|account/;
const isWhole = process.env["SIGNET_TEST_WHOLE"] === "1";

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let browser: TestBrowser;
  let page: TestPage;
  let portal: Application;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    portal = await makeFederatedApp(running.service, org);
    await giveAuthenticator(running.service, org);
    browser = testBrowser();
    page = await logIn(browser, org, await visit(browser, org));
    assert.ok(showsTwoFactor(page));
  });
  after(() => running.close());

  /** A browser of the same state, whatever the other one was given since. */
  function halfSignedIn(): TestBrowser {
    const copy = testBrowser();
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    return copy;
  }
  const rowsOf = async () => {
    const db = running.service.database.query;
    const count = async (table: "browser_session" | "authorization_code" | "token_family" | "session_key") =>
      (await db.selectFrom(table).select("user_id").where("user_id", "=", org.user.id).execute()).length;
    return [
      await count("browser_session"),
      await count("authorization_code"),
      await count("token_family"),
      await count("session_key"),
    ];
  };

  const tried =
    name === "sqlite" || isWhole ? routes : routes.filter(({ path }) => READS_SIGN_INS.test(path));
  for (const { method, path } of tried) {
    test(`${method} ${path} has no session before the second factor`, async () => {
      const url = `${running.baseUrl}${path.replace(":org", org.organisation.id).replaceAll(/:\w+/g, "x")}`;
      const { pending = "", flow = "", csrf = "" } = page.hidden;
      const query = `${requestQuery(org)}&prompt=none`;
      const fields = [
        { flow, csrf, decision: "allow" },
        { ...Object.fromEntries(new URLSearchParams(query)), csrf },
        { appId: portal.id, returnUrl: RETURN_URL, prompt: "none" },
      ];
      const everything = [...fields, { flow: pending, csrf, pending, token: pending, code: pending }];
      // Where no sign-in is read, one form with all of it in.
      const readsSignIns = READS_SIGN_INS.test(path) && !path.startsWith(CONSOLE);
      const one = Object.assign({}, ...everything) as Record<string, string>;
      for (const more of readsSignIns || isWhole ? everything : [one]) {
        const headers = { authorization: `Bearer ${pending}`, accept: "*/*" };
        for (const given of [headers, {}] as Record<string, string>[]) {
          const here = halfSignedIn();
          const before = sessionCookie(here, org);
          const answer =
            method === "GET"
              ? await here.get(`${url}?${new URLSearchParams(more)}`, given)
              : await here.post(url, more, given);
          // The two-factor page itself says whose sign-in it is, and stays where it is.
          const isFactorPage = path.endsWith("/twofactor") && showsTwoFactor(answer);
          if (!isFactorPage)
            assert.ok(!answer.body.includes(org.user.email), `${answer.status} ${answer.body.slice(0, 300)}`);
          if (before) assert.deepEqual(sessionCookie(here, org) ?? before, before, "no new cookie");
          const { searchParams } = new URL(answer.location ?? "x:");
          assert.ok(!searchParams.has("code") && !searchParams.has("service_key"));
        }
      }
      assert.deepEqual(await rowsOf(), [0, 0, 0, 0]);
    });
  }

  test("the second factor signs the same browser in", async () => {
    const app = await giveAuthenticator(running.service, org);
    const code = app.code(running.service.clock());
    assert.ok(showsConsent(await showFactor(browser, org, page, { code })));
    await tokensOf(browser, org);
    assert.ok(keyOf(await federate(browser, running, portal)));
    assert.deepEqual(await rowsOf(), [1, 1, 1, 1]);
  });
});
