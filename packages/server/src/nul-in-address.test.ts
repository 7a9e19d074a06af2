// PostgreSQL's text has no NUL: an address with one in it is nowhere, on every route that the server has and will have.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listRoutes } from "./app-routes.ts";
import { forEachDatabase } from "./testing/databases.ts";
import { quickPasswords } from "./testing/quick-passwords.ts";
import { testBrowser } from "./testing/test-browser.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "./testing/test-service.ts";
import { tokensOf } from "./testing/test-visit.ts";

const routes = (await listRoutes()).filter(
  ({ method, path }) => ["GET", "POST"].includes(method) && path.replace(":org", "").includes(":"),
);

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  test("a NUL in an address is not found, whoever asks", async () => {
    assert.ok(routes.length >= 5, "there are routes with more in their address than the organisation");
    const browser = testBrowser();
    const { accessToken } = await tokensOf(browser, org);
    const { hidden } = await browser.get(`${org.issuer}/account/sessions/end`);
    const bearer = { authorization: `Bearer ${accessToken}`, accept: "application/json" };
    for (const { method, path } of routes) {
      for (const nul of ["%00", "a%00b"]) {
        const url = `${running.baseUrl}${path.replace(":org", org.organisation.id).replaceAll(/:\w+/g, nul)}`;
        for (const headers of [{}, bearer] as Record<string, string>[]) {
          const { status } =
            method === "POST" ? await browser.post(url, hidden, headers) : await browser.get(url, headers);
          assert.equal(status, 404, `${method} ${url}`);
        }
      }
    }
    assert.deepEqual(running.errors, []);
  });
});
