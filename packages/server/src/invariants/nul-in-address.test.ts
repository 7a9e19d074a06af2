// PostgreSQL's text type rejects NUL: a URL that contains one is not found, on every registered route; a
// search for one finds nothing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../testing/databases.ts";
import { testBrowser } from "../testing/fakes/browser.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../testing/fixtures/administered-organisation.ts";
import { tokensOf } from "../testing/fixtures/visit.ts";
import { listRoutes } from "../testing/list-routes.ts";
import { consoleBrowser } from "../testing/probes/console-browser.ts";
import { textIn } from "../testing/probes/page-forms.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";

const routes = (await listRoutes()).filter(
  ({ method, path }) => ["GET", "POST"].includes(method) && path.replace(":org", "").includes(":"),
);

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: AdministeredOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await administeredOrganisation(running.service, "Acme");
  });
  after(() => running.close());

  test("a NUL in the URL is not found, for every caller", async () => {
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

  /** A NUL, half a pair of surrogates, a byte that begins nothing, and a percent sign alone. */
  const unreadable = ["a%00b", "a%ED%A0%BDb", "a%FFb", "a%b"];
  const searches = [
    ["/oauth/manage/ORG/applications", "search"],
    ["/oauth/manage/ORG/users", "search"],
    ["/oauth/manage/ORG/system-accounts", "search"],
    ["/oauth/manage/ORG/scopes", "search"],
    ["/oauth/manage/ORG/consents", "search"],
    ["/oauth/manage/ORG/audit-log", "search"],
    ["/devices/manage/ORG", "search"],
  ] as const;

  test("a search with a NUL finds nothing and is shown as entered", async () => {
    const { browser } = await consoleBrowser(running, org);
    for (const [path, name] of searches)
      for (const text of unreadable) {
        const url = `${running.baseUrl}${path.replace("ORG", org.organisation.id)}?${name}=${text}`;
        const page = await browser.get(url, { accept: "text/html" });
        assert.equal(page.status, 200, url);
        assert.match(textIn(page.body, name) ?? "", text === "a%b" ? /^a%b$/ : /^a\uFFFD{1,3}b$/, url);
      }
    assert.deepEqual(running.errors, []);
  });

  test("a form with a NUL has no effect and is shown again with its input", async () => {
    const { browser, get } = await consoleBrowser(running, org);
    const { hidden } = await get("/scopes/new");
    const base = `${running.baseUrl}/oauth/manage/${org.organisation.id}`;
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    for (const text of unreadable.slice(0, 3)) {
      const form = `${new URLSearchParams({ ...hidden, name: "orders", displayName: "Orders" })}&description=${text}`;
      const headers = { cookie, "content-type": "application/x-www-form-urlencoded" };
      const page = await fetch(`${base}/scopes/new`, { method: "POST", headers, body: form });
      const body = await page.text();
      assert.equal(page.status, 403, text);
      assert.equal(textIn(body, "displayName"), "Orders");
      assert.match(textIn(body, "description") ?? "", /^a\uFFFD{1,3}b$/);
    }
    const made = await running.service.database.query.selectFrom("custom_scope").select("id").execute();
    assert.deepEqual(made, []);
    const parts = new FormData();
    parts.set("csrf", "a\0b");
    const logo = await fetch(`${base}/settings/logo`, { method: "POST", headers: { cookie }, body: parts });
    assert.equal(logo.status, 400);
    assert.deepEqual(running.errors, []);
  });
});
