// Who may come into the console: somebody whose sign-in is as complete as on the way to an application, from a page of ours,
// and by what they do themselves.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { changeOrganisationSettings } from "../core/organisations/organisations.ts";
import { trustBrowser } from "../core/second-factors/trusted-browsers/trusted-browsers.store.ts";
import { testBrowser } from "../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../testing/fakes/mailbox.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../testing/fixtures/administered-organisation.ts";
import {
  appOfPage,
  giveAuthenticator,
  showFactor,
  showsEnrolment,
  showsRecoveryCodes,
  showsTwoFactor,
} from "../testing/fixtures/factors.ts";
import { follow, sessionCookie } from "../testing/fixtures/visit.ts";
import { type ConsoleBrowser, consoleBrowser, plain } from "../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";

const MINUTE = 60_000;

describe("console access", () => {
  let running: TestService;
  let clock: FakeClock;
  let org: AdministeredOrganisation;
  let here: ConsoleBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: "sqlite::memory:", clock, env: MAIL_ENV });
    org = await administeredOrganisation(running.service, "Acme");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const db = () => running.service.database.query;
  const lastSeen = async () => {
    const row = await db()
      .selectFrom("browser_session")
      .select("last_seen_at")
      .where("user_id", "=", org.administrator.id)
      .executeTakeFirstOrThrow();
    return row.last_seen_at;
  };

  test("never shows another site's input again with a CSRF token", async () => {
    const form = { email: "evil@evil.example", role: "Administrator", newEmail: "evil@evil.example" };
    const addresses = [
      "/oauth/manage/ORG/users/new",
      "/oauth/ORG/account/address",
      "/oauth/ORG/account/profile",
    ];
    for (const address of addresses)
      for (const site of ["same-site", "cross-site"]) {
        const uri = running.baseUrl + address.replace("ORG", org.organisation.id);
        const page = await here.browser.post(uri, form, { "sec-fetch-site": site });
        assert.equal(page.status, 403, address);
        assert.doesNotMatch(page.body, /evil@|name="csrf"/, address);
        assert.match(page.body, /submitted from another site/);
      }
  });

  test("what isn't there keeps the frame for administrators, and only for them", async () => {
    const uuid = "01a1fd3c-484e-78bb-9893-e02106c1d59d";
    const html = { accept: "text/html" };
    const manage = `${running.baseUrl}/oauth/manage/${org.organisation.id}`;
    const devices = `${running.baseUrl}/devices/manage/${org.organisation.id}`;
    for (const uri of [`${manage}/nothing`, `${manage}/users/${uuid}`, `${devices}/nothing/here`]) {
      const page = await here.browser.get(uri, html);
      assert.equal(page.status, 404, uri);
      assert.match(page.body, /<nav class="menu"[\s\S]*id="page-missing"/, uri);
      assert.equal(page.body.match(/class="button primary"/g)?.length, 1, uri);
      assert.match(
        page.body,
        new RegExp(`id="missing-overview" href="/oauth/manage/${org.organisation.id}"`),
      );
    }
    const user = await consoleBrowser(running, { ...org, administrator: org.user });
    const refused = await user.browser.get(`${manage}/nothing`, html);
    assert.equal(refused.status, 404);
    assert.doesNotMatch(refused.body, /class="menu"|page-missing/, "a standard user");
    const stranger = await testBrowser().get(`${manage}/nothing`, html);
    assert.equal(stranger.status, 404);
    assert.doesNotMatch(stranger.body, /class="menu"|page-missing/);
    const program = await here.browser.get(`${manage}/nothing`, { accept: "application/json" });
    assert.match(program.headers.get("content-type") ?? "", /problem\+json/);
    const elsewhere = await here.browser.get(`${running.baseUrl}/oauth/manage/${uuid}/nothing`, html);
    assert.doesNotMatch(elsewhere.body, /class="menu"/, "no organisation of theirs");
  });

  test("a program without a session gets 401 with a scheme at every kind of page, never the sign-in (RFC 9110 §15.5.2)", async () => {
    const { id } = org.organisation;
    for (const path of [`/oauth/manage/${id}/users`, `/oauth/${id}/account`, `/devices/manage/${id}`]) {
      const program = await testBrowser().get(running.baseUrl + path, { accept: "application/json" });
      assert.equal(program.status, 401, path);
      assert.match(program.headers.get("content-type") ?? "", /json/, path);
      assert.equal(program.headers.get("www-authenticate"), 'Cookie realm="Signet"', path);
    }
  });

  test("polling a live part does not extend the session", async () => {
    const form = { name: "Shop", address: "http://localhost:3000" };
    const page = await follow(here.browser, await here.send("/quickstart/new?for=spa", form));
    const [, rest = ""] = /data-live="[^"]*\/oauth\/manage\/[^/"]+([^"]*)"/.exec(page.body) ?? [];
    assert.match(rest, /waiting$/);
    const before = await lastSeen();
    clock.advance(5 * MINUTE);
    const piece = await here.get(rest);
    assert.deepEqual([piece.status, piece.body.includes(`${rest}"`)], [200, true]);
    assert.equal(await lastSeen(), before);
  });

  /** As a script of a page asks for it. */
  const devices = () =>
    here.browser.get(`${running.baseUrl}/devices/manage/${org.organisation.id}`, {
      accept: "application/json",
    });

  test("requires a verified email address where the organisation does", async () => {
    await changeOrganisationSettings(running.service, {
      orgId: org.organisation.id,
      settings: () => ({ requireVerifiedEmail: true }),
      actor: "test",
    });
    assert.equal((await here.get("/users")).status, 200);
    const confirmed = (at: number | null) =>
      db()
        .updateTable("user_account")
        .set({ email_verified_at: at })
        .where("id", "=", org.administrator.id)
        .execute();
    await confirmed(null);
    for (const rest of ["", "/users", "/users/new", "/audit-log/export"]) {
      const page = await here.get(rest);
      assert.match(page.location ?? "", /\/verify-email\?/, rest);
    }
    assert.match((await here.post("/users/new", {})).location ?? "", /\/verify-email\?/);
    assert.equal((await here.get("/pools/live")).status, 403);
    const refused = await devices();
    assert.deepEqual([refused.status, /interaction_required/.test(refused.body)], [403, true]);
    await confirmed(1);
    assert.equal((await here.get("/users")).status, 200);
  });

  const askForFactors = (secondFactor: "optional" | "required") =>
    changeOrganisationSettings(running.service, {
      orgId: org.organisation.id,
      settings: () => ({ secondFactor }),
      actor: "test",
    });
  test("requires a second factor from older sessions once the organisation does", async () => {
    const { organisation, administrator } = org;
    const owned = { ...org, user: administrator };
    assert.equal((await devices()).status, 200);
    await askForFactors("required");
    for (const rest of ["", "/users", "/users/new", "/audit-log/export?format=csv"])
      assert.ok(showsEnrolment(await here.get(rest)), rest);
    assert.ok(showsEnrolment(await here.post("/users/new", { email: "x@acme.example" })));
    assert.equal((await here.get("/pools/live")).status, 403);
    const refused = await devices();
    assert.deepEqual([refused.status, /interaction_required/.test(refused.body)], [403, true]);
    const security = `${running.baseUrl}/oauth/${organisation.id}/account/security`;
    assert.equal((await here.browser.get(security)).status, 200, "where a factor is added stays open");

    const page = await here.get("/users?role=Administrator");
    const code = appOfPage(page).code(clock());
    const codes = await showFactor(here.browser, owned, page, { code });
    assert.ok(showsRecoveryCodes(codes));
    const on = /id="codes-kept" href="([^"]+)"/.exec(codes.body)?.[1] ?? "";
    const back = await follow(here.browser, await here.browser.get(new URL(plain(on), running.baseUrl).href));
    assert.match(back.url, /\/users\?role=Administrator$/, "and back to where it was asked");
    assert.equal((await here.get("/pools/live")).status, 200);
    assert.equal((await devices()).status, 200);
  });

  test("asks for the second factor on a browser that is not trusted", async () => {
    const owned = { ...org, user: org.administrator };
    await askForFactors("optional");
    for (const table of ["totp_credential", "recovery_code"] as const)
      await db().deleteFrom(table).where("user_id", "=", org.administrator.id).execute();
    const password = await consoleBrowser(running, org);
    assert.equal((await password.get("/users")).status, 200);
    const app = await giveAuthenticator(running.service, owned);
    await askForFactors("required");
    assert.ok(showsTwoFactor(await password.get("/users")));
    const account = { orgId: org.organisation.id, id: org.administrator.id };
    const origin = { address: "127.0.0.1", userAgent: "Firefox/1", now: clock() };
    const token = await trustBrowser(db(), account, origin);
    const [name = ""] = sessionCookie(password.browser, org) ?? [];
    password.browser.cookies.set(name.replace("signet-", "signet-device-"), token);
    const page = await password.get("/users");
    assert.match(page.body, /id="users-list"|<table/, "as at a sign-in");
    const asked = await follow(password.browser, await password.get("/settings/policies"));
    assert.ok(showsTwoFactor(asked), "before a change of policies it is shown there too");
    const shown = await showFactor(password.browser, owned, asked, { code: app.code(clock()) });
    assert.match(shown.body, /id="policies-save"/);
    await askForFactors("optional");
  });
});
