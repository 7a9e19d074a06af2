/** Shared applications in the browser (connections.md §7): allowed by an administrator, and found by the common entry. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { enableShared } from "../../../core/shared-applications/shared-applications.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { authorizationRequest, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../testing/fixtures/administered-organisation.ts";
import { provenDomain } from "../../../testing/fixtures/routed-domain.ts";
import { answerOf, follow, logIn, showsLogin } from "../../../testing/fixtures/visit.ts";
import { consoleBrowser, formOfPage } from "../../../testing/probes/console-browser.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let home: TestOrganisation;
  let tenant: AdministeredOrganisation;
  let second: TestOrganisation;
  let client: TestClient;
  let made = 0;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), env: MAIL_ENV });
  });
  beforeEach(async () => {
    const { service } = running;
    made++;
    home = await makeOrganisation(service, `Maker${made}`);
    tenant = await administeredOrganisation(service, `Tenant${made}`);
    second = await makeOrganisation(service, `Second${made}`);
    client = await makeClient(service, home.organisation, {
      redirectUris: [REDIRECT_URI],
      allowedScopes: ["openid", "profile", "email", "offline_access"],
      shared: { organisations: [tenant.organisation.id, second.organisation.id] },
    });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const enable = (org: TestOrganisation) =>
    enableShared(running.service, {
      ...{ orgId: org.organisation.id, actor: "test", id: client.application.id },
      scopes: ["openid", "profile", "email"],
    });
  const request = (more: Record<string, string> = {}) =>
    authorizationRequest(client.application.id, REDIRECT_URI, more);
  const common = (query: string) => `${running.baseUrl}/oauth/common/authorize?${query}`;
  /** The parameters that the browser is sent on with. */
  const sentOn = (page: TestPage) => {
    const { origin, pathname, searchParams } = new URL(page.location ?? "about:blank");
    return {
      issuer: `${origin}${pathname.replace(/\/authorize$/, "")}`,
      parameters: Object.fromEntries(searchParams),
    };
  };

  test("offered and not enabled: users hear whom to ask, an administrator allows it, and goes on to the application", async () => {
    const { query } = request({ scope: "openid email" });
    const user = testBrowser();
    const refused = await user.get(`${tenant.issuer}/authorize?${query}`);
    assert.equal(refused.status, 403);
    assert.match(refused.body, /id="shared-application-administrator"/);
    assert.ok(refused.body.includes(tenant.organisation.name));
    const { browser } = await consoleBrowser(running, tenant as never);
    const asked = await follow(browser, await browser.get(`${tenant.issuer}/authorize?${query}`));
    assert.match(asked.body, /id="shared-application-allow"/);
    assert.ok(asked.body.includes(home.organisation.name) && asked.body.includes("<code>email</code>"));
    assert.ok(!asked.body.includes("<code>profile</code>"), "no scope that was not asked for");
    const allowed = await browser.post(asked.url, formOfPage(asked));
    const { issuer, parameters } = sentOn(allowed);
    assert.deepEqual([issuer, parameters], [tenant.issuer, Object.fromEntries(new URLSearchParams(query))]);
    assert.ok(answerOf(await follow(browser, allowed)).get("code"));
    // Everybody else can sign in now, and is not asked for consent.
    const page = await follow(user, await user.get(`${tenant.issuer}/authorize?${query}`));
    assert.ok(showsLogin(page));
    assert.ok(answerOf(await logIn(user, tenant, page)).get("code"));
    // In the console it is listed, and withdrawn.
    const console = await consoleBrowser(running, tenant as never);
    const list = await console.get("/shared-applications");
    assert.ok(list.body.includes(`id="shared-application-${client.application.id}"`));
    const gone = await console.send(`/shared-applications/${client.application.id}/withdraw`);
    assert.equal(gone.status, 303);
    assert.equal((await user.get(`${tenant.issuer}/authorize?${query}`)).status, 403);
  });

  test("one that is not offered, or with a redirect URI of somebody else, is as unknown as any other", async () => {
    const third = await makeOrganisation(running.service, `Third${made}`);
    const browser = testBrowser();
    const unknown = await browser.get(
      `${third.issuer}/authorize?${authorizationRequest(crypto.randomUUID(), REDIRECT_URI).query}`,
    );
    const evil = authorizationRequest(client.application.id, "https://evil.example/").query;
    for (const address of [
      `${third.issuer}/authorize?${request().query}`,
      `${tenant.issuer}/authorize?${evil}`,
    ]) {
      const page = await browser.get(address);
      assert.equal(page.status, unknown.status);
      assert.match(page.body, /Unknown application/);
    }
    const { get } = await consoleBrowser(running, tenant as never);
    assert.equal((await get(`/shared-applications/${home.web.application.id}/allow`)).status, 404);
  });

  test("the common entry checks client and redirect URI first, and hands a named organisation the rest unchanged", async () => {
    const browser = testBrowser();
    for (const query of [
      "",
      request().query.replace(client.application.id, crypto.randomUUID()),
      request().query.replace(encodeURIComponent(REDIRECT_URI), encodeURIComponent("https://evil.example/")),
      `${request().query}&client_id=${client.application.id}`,
    ]) {
      const page = await browser.get(common(`${query}&organisation=${tenant.organisation.id}`));
      assert.deepEqual([page.status, page.location], [400, undefined], query);
    }
    const { query } = request({ ui_locales: "da de", prompt: "login" });
    const page = await browser.get(common(`${query}&organisation=${tenant.organisation.id}`));
    assert.equal(page.status, 303);
    assert.deepEqual(sentOn(page), {
      issuer: tenant.issuer,
      parameters: Object.fromEntries(new URLSearchParams(query)),
    });
    for (const organisation of [crypto.randomUUID(), "common", "//evil.example"])
      assert.equal((await browser.get(common(`${query}&organisation=${organisation}`))).status, 404);
    for (const path of ["userinfo", ".well-known/openid-configuration", ".well-known/jwks.json"])
      assert.equal((await fetch(`${running.baseUrl}/oauth/common/${path}`)).status, 404, path);
    assert.equal((await fetch(`${running.baseUrl}/oauth/common/token`, { method: "POST" })).status, 404);
  });

  test("who is signed in chooses among the organisations that have the application", async () => {
    await enable(tenant);
    await enable(second);
    const browser = testBrowser();
    const { query } = request();
    const choices = ({ body }: TestPage) =>
      [...body.matchAll(/id="organisation-([0-9a-f-]{36})"/g)].map(([, id = ""]) => id);
    const first = await browser.get(common(query));
    assert.deepEqual([first.status, choices(first)], [200, []]);
    assert.match(first.body, /id="email"[\s\S]*id="organisation-submit"/);
    const third = await makeOrganisation(running.service, `Other${made}`);
    for (const org of [tenant, second, third])
      await logIn(browser, org, await follow(browser, await browser.get(`${org.issuer}/account`)));
    const page = await browser.get(common(query));
    assert.deepEqual(choices(page).toSorted(), [tenant.organisation.id, second.organisation.id].toSorted());
    assert.ok(page.body.includes(`href="${tenant.issuer}/authorize?`));
    // Cookies that are no session's open nothing.
    const forged = testBrowser();
    forged.cookies.set(`signet-${tenant.organisation.id}`, `sgn_bs_${"x".repeat(43)}`);
    assert.deepEqual(choices(await forged.get(common(query))), []);
    const silent = await forged.get(common(`${query}&prompt=none`));
    assert.equal(sentOn(silent).issuer, home.issuer);
  });

  test("an address leads to the organisation that has proven its domain; any other gets the same page, and its owner a mail", async () => {
    await enable(tenant);
    await enable(second);
    const { service } = running;
    const domain = `proven${made}.example`;
    await provenDomain(service, tenant.organisation.id, { domain });
    const { query } = request();
    const browser = testBrowser();
    const ask = async (email: string) => {
      const page = await browser.get(common(query));
      return browser.post(common(query), { ...page.hidden, email });
    };
    const routed = await ask(`new@${domain}`);
    assert.equal(routed.status, 303);
    assert.deepEqual(sentOn(routed), {
      issuer: tenant.issuer,
      parameters: { ...Object.fromEntries(new URLSearchParams(query)), login_hint: `new@${domain}` },
    });
    const known = await ask(second.user.email);
    const unknown = await ask(`nobody@second${made}.example`);
    const shown = ({ body }: TestPage, email: string) =>
      body.replaceAll(email, "EMAIL").replaceAll(/nonce="[^"]*"|name="csrf" value="[^"]*"/g, "");
    assert.deepEqual([known.status, unknown.status], [200, 200]);
    assert.equal(shown(known, second.user.email), shown(unknown, `nobody@second${made}.example`));
    const [mail] = await mailsTo(service, second.user.email);
    assert.equal(mail?.orgId, second.organisation.id);
    assert.ok(JSON.stringify(mail).includes(`${second.issuer}/authorize?`));
    assert.deepEqual(await mailsTo(service, `nobody@second${made}.example`), []);
    const events = await listAuditEvents(service.database.query, home.organisation.id, 20);
    const asked = events.filter(({ action }) => action === "organisation-link.sent");
    assert.deepEqual(
      asked.map(({ actor, target }) => [actor, target]),
      [1, 2].map(() => ["anonymous", client.application.id]),
    );
    // Two organisations have proven it: neither is taken.
    await provenDomain(service, second.organisation.id, { domain });
    assert.equal((await ask(`new@${domain}`)).status, 200);
    assert.equal((await ask("not an address")).status, 422);
    const foreign = await testBrowser().post(common(query), { email: second.user.email });
    assert.equal(foreign.status, 403);
    for (let left = 10; left > 0; left--) await ask("flooded@example.com");
    assert.equal((await ask("flooded@example.com")).status, 429);
  });
});
