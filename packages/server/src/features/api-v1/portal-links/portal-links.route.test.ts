/** Portal links by API v1; what they open: admin-console/portal/portal.route.test.ts. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { openLink } from "../../../testing/fixtures/portal-link.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let bare: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), clock: fakeClock() });
    bare = await makeOrganisation(running.service, "Bare");
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  test("by API v1: the address once, a registered return URL, states", async () => {
    const api = await makeApiClient(running.service, bare, ["signet:connections:write"]);
    await makeClient(running.service, bare.organisation, { redirectUris: [REDIRECT_URI] });
    const made = await api.call("POST", "/portal-links", {
      body: { purposes: ["scim", "connections"], returnUrl: REDIRECT_URI },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { id, url, expiresAt, purposes, state } = made.body as Record<string, string>;
    assert.match(String(url), new RegExp(`^${running.baseUrl}/portal/sgn_pl_[A-Za-z0-9_-]{43}$`));
    assert.equal(Date.parse(String(expiresAt)), running.service.clock() + 3_600_000);
    assert.deepEqual([purposes, state], [["connections", "scim"], "pending"]);
    assert.ok(!("url" in (await api.call("GET", `/portal-links/${id}`)).body));
    for (const returnUrl of ["https://evil.example/", `${REDIRECT_URI}/..`, "javascript:alert(1)"]) {
      const refused = await api.call("POST", "/portal-links", { body: { purposes: ["scim"], returnUrl } });
      assert.equal(refused.status, 422, returnUrl);
    }
    const browser = testBrowser();
    await openLink(browser, String(url));
    const home = await browser.get(`${running.baseUrl}/oauth/manage/${bare.organisation.id}/portal`);
    assert.ok(home.body.includes(`id="portal-back" href="${REDIRECT_URI}"`), home.body);
    assert.equal((await api.call("GET", `/portal-links/${id}`)).body["state"], "open");
    const opened = (await listAuditEvents(running.service.database.query, bare.organisation.id, 100)).filter(
      ({ target }) => target === id,
    );
    assert.deepEqual(opened.map(({ action, actor }) => [action, actor]).toSorted(), [
      ["portal-link.created", `client:${api.application.id}`],
      ["portal-link.opened", `portal-link:${id}`],
    ]);
    const dump = JSON.stringify(
      await running.service.database.query.selectFrom("portal_link").selectAll().execute(),
    );
    assert.ok(!dump.includes(String(url).split("/").at(-1) ?? ""));
  });
});
