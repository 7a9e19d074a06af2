/** Portal links in the browser: opened once, for an hour, by who holds them; the pages they open, and no other. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { listConnections, listTokens } from "../../../core/connections/connections.store.ts";
import { insertIdentity } from "../../../core/connections/sign-in/linked-identities.store.ts";
import type { PortalPurpose } from "../../../core/portal-links/portal-link.ts";
import { createPortalLink } from "../../../core/portal-links/portal-links.ts";
import type { ApiScope } from "../../../core/scopes/api-scopes.ts";
import { CONSOLE } from "../../../page-kit/page.ts";
import { isPortalPage } from "../../../page-kit/portal-visit.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type NameServer, startNameServer } from "../../../testing/fakes/name-server.ts";
import { makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { openLink } from "../../../testing/fixtures/portal-link.ts";
import { securedAdministrator } from "../../../testing/fixtures/routed-domain.ts";
import { newScimConnection } from "../../../testing/fixtures/scim-connection.ts";
import { newSamlConnection } from "../../../testing/fixtures/sign-in-connection.ts";
import { listRoutes } from "../../../testing/list-routes.ts";
import { consoleBrowser, formOfPage } from "../../../testing/probes/console-browser.ts";
import { recordAddress } from "../../../testing/probes/record-address.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const MINUTE_MS = 60_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let names: NameServer;
  let a: SeededRecords;
  let b: SeededRecords;
  let bare: TestOrganisation;
  before(async () => {
    clock = fakeClock();
    names = await startNameServer();
    const env = { SIGNET_DNS_SERVERS: names.address };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    a = await seedRecords(running.service, "Acme");
    b = await seedRecords(running.service, "Beta");
    bare = await makeOrganisation(running.service, "Bare");
  });
  after(async () => {
    await running.close();
    await names.close();
    assert.deepEqual(running.errors, []);
  });

  /** An hour goes by in a test. */
  const newApiClient = () => makeApiClient(running.service, bare, ["signet:connections:write"]);
  const all: readonly ApiScope[] = ["signet:organisation:write", "signet:users:write", "signet:groups:write"];
  async function newLink(
    org: TestOrganisation,
    purposes: readonly PortalPurpose[],
    scopes: readonly ApiScope[] = all,
  ): Promise<string> {
    const wanted = { purposes, returnUrl: null, scopes };
    const act = { orgId: org.organisation.id, actor: "test" };
    const { token } = await createPortalLink(running.service, { ...act, wanted });
    return `${running.baseUrl}/portal/${token}`;
  }
  async function visitor(
    org: TestOrganisation,
    purposes: readonly PortalPurpose[],
    scopes: readonly ApiScope[] = all,
  ) {
    const browser = testBrowser();
    const opened = await openLink(browser, await newLink(org, purposes, scopes));
    assert.equal(opened.status, 303, opened.body);
    const base = `${running.baseUrl}/oauth/manage/${org.organisation.id}`;
    assert.equal(opened.location, `${base}/portal`);
    const get = (rest: string) => browser.get(base + rest);
    return {
      ...{ browser, get },
      send: async (rest: string, changes: Record<string, string> = {}) => {
        const page = await get(rest);
        assert.equal(page.status, 200, `${rest}: ${page.body}`);
        return browser.post(base + rest.replace(/\?.*/, ""), formOfPage(page, changes));
      },
    };
  }
  const eventsOf = async (org: TestOrganisation) =>
    (await listAuditEvents(running.service.database.query, org.organisation.id, 100)).map((event) => event);
  const provider = { name: "Okta", issuer: "https://acme.okta.com", clientId: "x", clientSecret: "secret" };

  test("a link is opened by its button, once, and by no other site's form", async () => {
    const url = await newLink(bare, ["connections"]);
    const [first, second, scanner] = [testBrowser(), testBrowser(), testBrowser()];
    for (const browser of [scanner, scanner, first, second]) {
      const page = await browser.get(url);
      assert.equal(page.status, 200);
      assert.match(page.body, /id="portal-open"/);
      assert.match(page.body, /Bare/);
      assert.match(page.headers.get("referrer-policy") ?? "", /no-referrer/);
    }
    assert.equal((await first.post(url, {})).status, 403, "without the token of its page");
    const csrf = (await first.get(url)).hidden["csrf"] ?? "";
    assert.equal((await scanner.post(url, { csrf })).status, 403, "with that of another browser");
    const foreign = await first.post(url, { csrf }, { "sec-fetch-site": "cross-site" });
    assert.equal(foreign.status, 403);
    assert.equal((await first.post(url, { csrf })).status, 303);
    for (const browser of [first, second]) {
      assert.equal((await browser.get(url)).status, 410);
      assert.equal((await openLink(browser, url)).status, 410);
    }
    assert.equal((await second.get(`${running.baseUrl}/portal/sgn_pl_${"A".repeat(43)}`)).status, 404);
    assert.equal((await second.get(`${running.baseUrl}/portal/x`)).status, 404);
  });

  test("of many who open it at once, one does", async () => {
    const url = await newLink(bare, ["connections"]);
    const opened = await Promise.all(
      Array.from({ length: 6 }, () => openLink(testBrowser(), url).then(({ status }) => status)),
    );
    assert.deepEqual(opened.toSorted(), [303, 410, 410, 410, 410, 410]);
  });

  test("a link ends after an hour, and so does what it opens, whatever happens there", async () => {
    const late = await newLink(bare, ["connections"]);
    const { get } = await visitor(bare, ["connections"]);
    for (let minutes = 0; minutes < 59; minutes += 20) {
      assert.equal((await get("/portal")).status, 200);
      clock.advance(20 * MINUTE_MS);
    }
    assert.equal((await testBrowser().get(late)).status, 410);
    const over = await get("/portal");
    assert.deepEqual([over.status, over.location], [303, `${running.baseUrl}/portal`]);
    assert.equal((await get("/connections/new")).location, `${running.baseUrl}/portal`);
  });

  test("the visitor connects a provider, tests and enables it; the audit log names the link", async () => {
    const at = await visitor(bare, ["connections"]);
    const made = await at.send("/connections/new?type=okta", provider);
    assert.equal(made.status, 303, made.body);
    const id = /connections\/([0-9a-f-]{36})/.exec(made.location ?? "")?.[1] ?? "";
    const page = await at.get(`/connections/${id}`);
    assert.equal(page.status, 200);
    // Nothing leads to what a link doesn't open.
    const links = [...page.body.matchAll(/(?:href|action)="(\/oauth\/manage\/[^"?]+)/g)].map(
      ([, path = ""]) => path.replace(/\/manage\/[^/]+/, "/manage/:org").replace(id, ":id"),
    );
    assert.deepEqual(
      links.filter((path) => !isPortalPage(path)),
      [],
    );
    assert.ok(!page.body.includes(bare.user.email));
    assert.equal((await at.send(`/connections/${id}/settings`, { name: "Okta of Bare" })).status, 303);
    assert.match((await at.send(`/connections/${id}/test`)).body, /connections\/[^"]+\/test\?link=/);
    assert.equal((await at.send(`/connections/${id}/enable`)).status, 303);
    const [stored] = await listConnections(running.service.database.query, bare.organisation.id);
    assert.deepEqual([stored?.name, stored?.enabled], ["Okta of Bare", true]);
    const events = (await eventsOf(bare)).filter(({ target }) => target === id);
    assert.deepEqual(events.map(({ action }) => action).toSorted(), [
      "connection.changed",
      "connection.changed",
      "connection.created",
    ]);
    for (const { actor } of events) assert.match(actor, /^portal-link:/);
    assert.match((await at.get("/portal")).body, /Okta of Bare/);
  });

  test("opens exactly the pages of its purposes, of its own organisation", async () => {
    const routes = (await listRoutes()).filter(({ path }) => path.startsWith(CONSOLE));
    for (const purposes of [
      ["connections"],
      ["scim"],
      ["domains"],
      ["connections", "domains", "scim"],
    ] as const) {
      const { browser } = await visitor(a, purposes);
      const opened: string[] = [];
      for (const { method, path } of routes) {
        const address = recordAddress(path, a.organisation.id, a.ids) ?? "";
        if (method !== "GET") {
          if (isPortalPage(path)) continue;
          // Nothing but a sign-in, or a refusal, answers.
          const { status, body } = await browser.post(running.baseUrl + address, { csrf: "" });
          assert.ok(
            status >= 400 || body.includes('id="login-submit"') || status === 303,
            `${path} ${status}`,
          );
          continue;
        }
        const page = await browser.get(running.baseUrl + address, { accept: "text/html" });
        if (page.status === 200 && !/id="(?:login-submit|password)"/.test(page.body)) opened.push(path);
        else assert.ok([200, 303, 403, 404].includes(page.status), `${path} ${page.status}`);
      }
      const outside = opened.filter((path) => !isPortalPage(path));
      assert.deepEqual(outside, [], purposes.join());
      const rests = opened.map((path) => path.slice(CONSOLE.length));
      assert.equal(
        rests.includes("/domains/:id"),
        purposes.some((one) => one === "domains"),
      );
      assert.equal(
        rests.includes("/connections/:id/tokens/new"),
        purposes.some((one) => one === "scim"),
      );
      assert.equal(
        rests.includes("/connections/:id/test"),
        purposes.some((one) => one === "connections"),
      );
    }
    const { browser } = await visitor(a, ["connections", "domains", "scim"]);
    const [[name = "", token = ""] = []] = [...browser.cookies].filter(([one]) => one.includes("portal"));
    browser.cookies.set(name.replace(a.organisation.id, b.organisation.id), token);
    for (const path of ["/connections/:id", "/domains/:id", "/connections/new", "/portal"]) {
      const theirs = recordAddress(`${CONSOLE}${path}`, b.organisation.id, b.ids) ?? "";
      const page = await browser.get(running.baseUrl + theirs);
      assert.deepEqual([page.status, page.location], [303, `${running.baseUrl}/portal`], path);
      const mixed = recordAddress(`${CONSOLE}${path}`, a.organisation.id, b.ids) ?? "";
      if (path.includes(":id")) assert.equal((await browser.get(running.baseUrl + mixed)).status, 404, path);
    }
  });

  test("does no more than who made it: a provider may not speak for accounts that are there", async () => {
    const org = await makeOrganisation(running.service, "Modest");
    const modest = await visitor(org, ["connections", "domains"], ["signet:connections:write"]);
    const made = await modest.send("/connections/new?type=okta", provider);
    assert.equal(made.status, 303, made.body);
    const id = /connections\/([0-9a-f-]{36})/.exec(made.location ?? "")?.[1] ?? "";
    const raised = await modest.send(`/connections/${id}/settings`, { linking: "verifiedEmail" });
    assert.deepEqual([raised.status, /can’t change that/.test(raised.body)], [409, true]);
    await newScimConnection(running.service, org.organisation.id);
    assert.equal(
      (await modest.send(`/connections/${id}/settings`, { issuer: "https://evil.example" })).status,
      409,
    );
    assert.equal((await modest.send(`/connections/${id}/settings`, { name: "Renamed" })).status, 303);
    assert.equal((await modest.send(`/connections/${id}/enable`)).status, 409);
    assert.equal(
      (
        await modest.send("/connections/new?type=google", {
          name: "G",
          clientId: "x",
          clientSecret: "secret",
        })
      ).status,
      403,
    );
    const domain = await modest.send("/domains/new", { domain: "modest.example" });
    const domainId = /domains\/([0-9a-f-]{36})/.exec(domain.location ?? "")?.[1] ?? "";
    assert.equal((await modest.send(`/domains/${domainId}/settings`, { connectionId: id })).status, 409);
    assert.equal((await listConnections(running.service.database.query, org.organisation.id)).length, 2);
    const trusted = await visitor(org, ["connections", "domains"]);
    assert.equal(
      (await trusted.send(`/connections/${id}/settings`, { linking: "verifiedEmail" })).status,
      303,
    );
    assert.equal((await trusted.send(`/domains/${domainId}/settings`, { connectionId: id })).status, 303);
  });

  test("makes no token of a directory, and moves no provider that an administrator is linked at, unless who made it may", async () => {
    const org = await makeOrganisation(running.service, "Linked");
    const orgId = org.organisation.id;
    const { connection } = await newScimConnection(running.service, orgId);
    const saml = await newSamlConnection(running.service, orgId);
    const administrator = await securedAdministrator(running.service, org.organisation);
    const linked = {
      orgId,
      connectionId: saml,
      userId: administrator,
      subject: "ada",
      createdAt: clock(),
      lastSignInAt: clock(),
    };
    await insertIdentity(running.service.database.query, linked);
    const token = `/connections/${connection.id}/tokens/new`;
    const settings = `/connections/${saml}/settings`;
    const tokens = () => listTokens(running.service.database.query, connection);
    const moved = { ssoUrl: "https://evil.example/sso" };
    for (const held of [
      ["signet:connections:write"],
      ["signet:connections:write", "signet:users:write"],
      ["signet:connections:write", "signet:groups:write"],
    ] as const) {
      const modest = await visitor(org, ["scim", "connections"], held);
      assert.equal((await modest.send(token, { label: "mine" })).status, 403);
      assert.equal((await tokens()).length, 1);
      assert.equal((await modest.send(settings, moved)).status, 409, held.join());
    }
    const client = await makeApiClient(running.service, org, [
      "signet:connections:write",
      "signet:users:write",
    ]);
    const patched = await client.call("PATCH", `/connections/${saml}`, { body: { saml: moved } });
    assert.deepEqual([patched.status, patched.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    const trusted = await visitor(org, ["scim", "connections"]);
    assert.match((await trusted.send(token, { label: "theirs" })).body, /sgn_st_/);
    assert.equal((await tokens()).length, 2);
    assert.equal((await trusted.send(settings, moved)).status, 303);
  });

  test("proves a domain, and neither enforces nor deletes it", async () => {
    const at = await visitor(bare, ["domains"]);
    const made = await at.send("/domains/new", { domain: "Bare.example" });
    const rest = /\/domains\/[0-9a-f-]{36}/.exec(made.location ?? "")?.[0] ?? "";
    const page = await at.get(rest);
    const value = /signet-domain-verification=[\w-]{43}/.exec(page.body)?.[0] ?? "";
    assert.match(page.body, /_signet-challenge\.bare\.example/);
    assert.match((await at.send(`${rest}/verify`)).location ?? "", /done=notProven/);
    assert.match((await at.get(rest)).body, /id="domain-error"/);
    names.set("_signet-challenge.bare.example", { txt: [[value]] });
    assert.match((await at.send(`${rest}/verify`)).location ?? "", /done=proven/);
    assert.doesNotMatch((await at.get(`${rest}/settings`)).body, /enforced/);
    assert.equal((await at.send("/domains/new", { domain: "com" })).status, 400);
    assert.doesNotMatch((await at.get(`${rest}/delete`)).body, /domain-delete-confirm/);
    const events = await eventsOf(bare);
    assert.ok(
      events.some(({ action, actor }) => action === "domain.proven" && actor.startsWith("portal-link:")),
    );
  });

  test("ends by its button, by deleting the link, and with the organisation's name on it before", async () => {
    const at = await visitor(bare, ["scim"]);
    const home = await at.get("/portal");
    const csrf = /name="csrf" value="([^"]+)"/.exec(home.body)?.[1] ?? "";
    const base = `${running.baseUrl}/oauth/manage/${bare.organisation.id}`;
    const closed = await at.browser.post(`${base}/portal/close`, { csrf });
    assert.deepEqual([closed.status, closed.location], [303, `${running.baseUrl}/portal`]);
    assert.match((await at.browser.get(`${running.baseUrl}/portal`)).body, /id="portal-ended"/);
    assert.doesNotMatch((await at.get("/portal")).body, /portal-close/);
    const [ended] = await eventsOf(bare);
    assert.equal(ended?.action, "portal-link.closed");
    const api = await newApiClient();
    const { body } = await api.call("POST", "/portal-links", { body: { purposes: ["scim"] } });
    const browser = testBrowser();
    assert.equal((await openLink(browser, String(body["url"]))).status, 303);
    assert.equal((await browser.get(`${base}/portal`)).status, 200);
    assert.equal((await api.call("DELETE", `/portal-links/${body["id"]}`)).status, 204);
    assert.equal((await browser.get(`${base}/portal`)).status, 303);
  });

  test("gives nothing that its maker has lost: a client that is disabled, an administrator who is none", async () => {
    const client = await newApiClient();
    const base = `${running.baseUrl}/oauth/manage/${bare.organisation.id}`;
    const link = async () =>
      String((await client.call("POST", "/portal-links", { body: { purposes: ["domains"] } })).body["url"]);
    const [opened, waiting] = [testBrowser(), await link()];
    await openLink(opened, await link());
    assert.equal((await opened.get(`${base}/domains/new`)).status, 200);
    const { id } = client.application;
    await setApplicationStatus(running.service, {
      orgId: bare.organisation.id,
      id,
      disabled: true,
      actor: "test",
    });
    assert.equal((await opened.get(`${base}/domains/new`)).status, 303);
    assert.equal((await openLink(testBrowser(), waiting)).status, 410);
    for (const [maker, status] of [
      [a.administrator.id, 303],
      [a.user.id, 410],
    ] as const) {
      const wanted = { purposes: ["domains"] as const, returnUrl: null, scopes: [] };
      const act = { orgId: a.organisation.id, actor: `user:${maker}` };
      const { token } = await createPortalLink(running.service, { ...act, wanted });
      assert.equal((await openLink(testBrowser(), `${running.baseUrl}/portal/${token}`)).status, status);
    }
  });

  test("an administrator who is signed in stays one", async () => {
    const here = await consoleBrowser(running, a);
    const url = await newLink(a, ["domains"]);
    assert.equal((await openLink(here.browser, url)).status, 303);
    assert.equal((await here.get("/users")).status, 200);
    assert.equal((await here.get("/connections")).status, 200);
  });
});
