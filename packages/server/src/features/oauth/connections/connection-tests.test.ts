// A test sign-in tells what a provider claims and what would happen, and makes nothing; it is never a sign-in, nor a sign-in a test.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import type { Connection } from "../../../core/connections/connection.ts";
import type { AskedSettings } from "../../../core/connections/sign-in/settings-rules.ts";
import { createSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { removeExpired } from "../../../core/housekeeping/housekeeping.ts";
import { createUser, setUserStatus } from "../../../core/users/users.ts";
import type { Schema } from "../../../db/schema.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../testing/fakes/hostile-provider.ts";
import { MAIL_ENV } from "../../../testing/fakes/mailbox.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { provenDomain } from "../../../testing/fixtures/routed-domain.ts";
import { follow, showsConsent, visit } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const MADE = [
  ...(["user_account", "membership", "linked_identity", "browser_session", "group_claim"] as const),
  ...(["pending_identity", "upstream_sign_in", "connection_sign_in", "connection_start"] as const),
  ...(["known_browser", "email_code", "outgoing_mail", "audit_event"] as const),
] satisfies ReadonlyArray<keyof Schema>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let clock: FakeClock;
  let there: HostileProvider;
  let api: ApiClient;
  before(async () => {
    clock = fakeClock();
    const env = { ...MAIL_ENV, SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    api = await makeApiClient(running.service, org, ["signet:connections:write"]);
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  let count = 0;
  const connect = (more: AskedSettings = {}, enabled = false): Promise<Connection> =>
    createSignInConnection(running.service, {
      ...{ orgId: org.organisation.id, actor: "test" },
      asked: {
        ...{ kind: "oidc", name: `There ${++count}`, enabled, clientSecret: "their secret" },
        settings: {
          oidc: { issuer: there.issuer, clientId: "signet" },
          ...{ emailTrust: "verifiedClaim", ...more },
        },
      },
    });
  const begin = async ({ id }: Connection) => {
    const { status, body } = await api.call("POST", `/connections/${id}/test`);
    assert.equal(status, 201, JSON.stringify(body));
    const path = `/connections/${id}/tests/${String(body["id"])}`;
    const read = async () => {
      const answer = await api.call("GET", path);
      assert.equal(answer.status, 200);
      return answer.body as Record<string, unknown> & {
        account: { action: string; proof: string[] } | null;
        claims: Record<string, unknown> | null;
      };
    };
    return { url: String(body["url"]), path, body, read };
  };
  const open = async (url: string, browser: TestBrowser = testBrowser()) => {
    const sent = await browser.get(url);
    assert.equal(sent.status, 303, sent.body);
    return { browser, location: sent.location ?? "" };
  };
  const runTest = async (connection: Connection) => {
    const begun = await begin(connection);
    const { browser, location } = await open(begun.url);
    const page = await browser.get(there.comeBack(location));
    return { ...begun, page, told: await begun.read() };
  };
  const counts = async () => {
    const { query } = running.service.database;
    const all = MADE.map(async (table) => {
      const { n } = await query
        .selectFrom(table)
        .select((eb) => eb.fn.countAll().as("n"))
        .executeTakeFirstOrThrow();
      return [table, Number(n)] as const;
    });
    return Object.fromEntries(await Promise.all(all));
  };
  const isTestEnd = (page: TestPage, status: number) => {
    assert.equal(page.status, status, page.body);
    assert.match(page.body, /id="connection-test-close"/);
    assert.doesNotMatch(page.body, /connection-retry|connection-other/);
  };
  /** To the sign-in's own provider; not yet back. */
  const startSignIn = async (browser: TestBrowser, { id }: Connection) => {
    const page = await visit(browser, org);
    const [link = ""] = new RegExp(`/oauth/[^"]*/connections/${id}/start[^"]*`).exec(page.body) ?? [];
    const sent = await browser.get(running.baseUrl + link.replaceAll("&amp;", "&"));
    assert.equal(sent.status, 303, sent.body);
    return sent.location ?? "";
  };

  test("a disabled connection is tested: claims, how they map, what would happen, and nothing is made", async () => {
    const groupId = await newGroup();
    const connection = await connect({ groups: { from: "teams", map: { staff: groupId } } });
    there.claims = { teams: ["staff", "others"], department: "R&D" };
    const before = await counts();
    const { body, page, told } = await runTest(connection);
    assert.deepEqual(Object.keys(body).sort(), ["expiresAt", "id", "url"]);
    assert.equal(Date.parse(String(body["expiresAt"])), clock() + 600_000);
    isTestEnd(page, 200);
    assert.deepEqual([told["state"], told["reason"]], ["succeeded", null]);
    assert.equal(told.claims?.["department"], "R&D");
    assert.deepEqual(told.claims?.["teams"], ["staff", "others"]);
    assert.deepEqual(told["mapped"], {
      ...{ email: "ada@there.example", emailVerified: true, firstname: "Ada", surname: "Byron" },
      ...{ username: null, phone: null, locale: null, attributes: {}, groups: [groupId] },
    });
    assert.deepEqual(told.account, { action: "create", proof: [] });
    assert.deepEqual(await counts(), { ...before, audit_event: (before["audit_event"] ?? 0) + 1 });
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual(
      [event?.action, event?.target, event?.details],
      ["connection.tested", connection.id, { outcome: "succeeded" }],
    );
    assert.match(event?.actor ?? "", new RegExp(api.application.id));
  });

  const newGroup = async () => {
    const groups = await makeApiClient(running.service, org, ["signet:groups:write"]);
    const { body } = await groups.call("POST", "/groups", { body: { displayName: `Staff ${++count}` } });
    return String(body["id"]);
  };

  test("each account would be what a sign-in makes of it", async () => {
    const orgId = org.organisation.id;
    const user = (email: string) =>
      createUser(running.service, {
        ...{ organisation: org.organisation, email, emailVerified: true, password: "plum tractor ninety" },
        ...{ firstname: "A", surname: "B", role: "Standard", actor: "test" },
      });
    await user("known@there.example");
    const off = await user("off@there.example");
    await setUserStatus(running.service, { orgId, actor: "test", id: off, disabled: true });
    const foretold = async (more: AskedSettings, claims: Record<string, unknown>) => {
      there.claims = claims;
      const { told } = await runTest(await connect(more));
      assert.equal(told["state"], "succeeded");
      return [told.account?.action, told.account?.proof.join(" "), told["reason"]];
    };
    const known = { sub: "k", email: "known@there.example" };
    const fresh = { sub: "f", email: "fresh@there.example" };
    assert.deepEqual(await foretold({}, fresh), ["create", "", null]);
    assert.deepEqual(await foretold({ createAccounts: false }, fresh), [
      ...["refuse", "", "accounts-not-created"],
    ]);
    assert.deepEqual(await foretold({}, known), ["link", "account", null]);
    assert.deepEqual(await foretold({ linking: "never" }, known), ["refuse", "", "email-taken"]);
    assert.deepEqual(await foretold({}, { sub: "o", email: "off@there.example" }), [
      ...["refuse", "", "account-disabled"],
    ]);
    assert.deepEqual(await foretold({ emailTrust: "never" }, known), ["link", "email account", null]);
    assert.deepEqual(await foretold({}, { email: undefined }), ["create", "email", null]);
    const routed = await connect({ linking: "verifiedEmail" });
    await provenDomain(running.service, orgId, { domain: "there.example", connectionId: routed.id });
    there.claims = known;
    assert.deepEqual((await runTest(routed)).told.account, { action: "link", proof: [] });
    const enabled = await connect({}, true);
    there.claims = { sub: "own", email: "own@elsewhere.example" };
    const browser = testBrowser();
    const back = await browser.get(there.comeBack(await startSignIn(browser, enabled)));
    assert.ok(showsConsent(await follow(browser, back)));
    assert.deepEqual((await runTest(enabled)).told.account, { action: "signIn", proof: [] });
  });

  test("an answer that is not right is a failure with its reason, without what it claimed", async () => {
    const connection = await connect();
    const before = await counts();
    for (const [claims, reason] of [
      [{ nonce: "of another" }, "nonce-mismatch"],
      [{ aud: "another-client" }, "audience-mismatch"],
    ] as const) {
      there.claims = claims;
      const { page, told } = await runTest(connection);
      isTestEnd(page, 400);
      assert.deepEqual([told["state"], told["reason"], told.claims], ["failed", reason, null]);
      assert.deepEqual([told["mapped"], told.account], [null, null]);
    }
    there.reset();
    there.answers.set("/.well-known/openid-configuration", { status: 500, body: "" });
    const elsewhere = await createSignInConnection(running.service, {
      ...{ orgId: org.organisation.id, actor: "test" },
      asked: {
        ...{ kind: "oidc", name: "Nowhere", enabled: false, clientSecret: "their secret" },
        settings: { oidc: { issuer: "http://127.0.0.1:9", clientId: "signet" } },
      },
    });
    const { url, read } = await begin(elsewhere);
    isTestEnd(await testBrowser().get(url), 502);
    assert.equal((await read())["reason"], "upstream-unreachable");
    // That of making the connection, and one of each test.
    assert.deepEqual(await counts(), { ...before, audit_event: (before["audit_event"] ?? 0) + 4 });
  });

  test("a test that comes back in a browser with a sign-in under way starts no session, nor ends the sign-in", async () => {
    const connection = await connect({}, true);
    const browser = testBrowser();
    there.claims = { sub: "both", email: "both@there.example" };
    const signIn = await startSignIn(browser, connection);
    const begun = await begin(connection);
    const { location } = await open(begun.url, browser);
    const sessions = (await counts())["browser_session"];
    isTestEnd(await browser.get(there.comeBack(location)), 200);
    assert.equal((await counts())["browser_session"], sessions);
    assert.equal((await counts())["connection_start"], 1);
    assert.equal((await begun.read())["state"], "succeeded");
    assert.ok(showsConsent(await follow(browser, await browser.get(there.comeBack(signIn)))));
  });

  test("a sign-in that comes back is no test, and neither state is taken for the other's", async () => {
    const connection = await connect({}, true);
    const browser = testBrowser();
    there.claims = { sub: "one", email: "one@there.example" };
    const begun = await begin(connection);
    const { location } = await open(begun.url, browser);
    const signIn = await startSignIn(browser, connection);
    const state = (address: string) => new URL(address).searchParams.get("state") ?? "";
    const swapped = (address: string, prefix: string) =>
      there.comeBack(address, { state: state(address).replace(/^sgn_c._/, prefix) });
    isTestEnd(await browser.get(swapped(signIn, "sgn_ct_")), 400);
    const asSignIn = await browser.get(swapped(location, "sgn_cs_"));
    assert.match(asSignIn.body, /id="connection-error"/);
    assert.equal((await begun.read())["state"], "pending");
    assert.ok(showsConsent(await follow(browser, await browser.get(there.comeBack(signIn)))));
    assert.equal((await begun.read())["state"], "pending");
  });

  test("a disabled connection takes back its tests alone: a sign-in that was under way finds nothing", async () => {
    const connection = await connect({}, true);
    const browser = testBrowser();
    const signIn = await startSignIn(browser, connection);
    const { query } = running.service.database;
    await query.updateTable("connection").set({ enabled: 0 }).where("id", "=", connection.id).execute();
    assert.equal((await browser.get(there.comeBack(signIn))).status, 404);
  });

  test("the link opens once, for ten minutes; the way back is one browser's, one connection's, once, for ten minutes", async () => {
    const connection = await connect();
    const second = await connect();
    const once = await begin(connection);
    const { browser, location } = await open(once.url);
    isTestEnd(await testBrowser().get(once.url), 400);
    const back = there.comeBack(location);
    isTestEnd(await testBrowser().get(back), 400);
    isTestEnd(await browser.get(back.replace(connection.id, second.id)), 400);
    assert.equal((await once.read())["state"], "pending");
    isTestEnd(await browser.get(back), 200);
    isTestEnd(await browser.get(there.comeBack(location)), 400);
    const wrong = await begin(connection);
    isTestEnd(await testBrowser().get(wrong.url.replace(connection.id, second.id)), 400);
    const late = await begin(connection);
    const away = await begin(connection);
    const gone = await open(away.url);
    clock.advance(600_001);
    isTestEnd(await testBrowser().get(late.url), 400);
    isTestEnd(await gone.browser.get(there.comeBack(gone.location)), 400);
    assert.equal((await away.read())["state"], "pending");
  });

  test("what came back is sealed, bounded, kept for an hour, and then deleted", async () => {
    const connection = await connect();
    there.claims = { secretive: "written-down-nowhere", huge: "x".repeat(40_000) };
    const { told, path } = await runTest(connection);
    assert.equal(told.claims?.["secretive"], "written-down-nowhere");
    assert.deepEqual([told.claims?.["huge"], told["claimsLeftOut"]], [undefined, ["huge"]]);
    const rows = () => running.service.database.query.selectFrom("connection_test").selectAll().execute();
    const stored = JSON.stringify(await rows());
    assert.ok(!stored.includes("written-down-nowhere") && !stored.includes("ada@there.example"));
    clock.advance(3_600_001);
    const again = await makeApiClient(running.service, org, ["signet:connections:read"]);
    assert.equal((await again.call("GET", path)).status, 404);
    await removeExpired(running.service);
    assert.deepEqual(await rows(), []);
    api = await makeApiClient(running.service, org, ["signet:connections:write"]);
  });

  test("reading needs one scope, starting the other, and each is of one connection of one organisation", async () => {
    const connection = await connect();
    const second = await connect();
    const { path } = await begin(connection);
    const reader = await makeApiClient(running.service, org, ["signet:connections:read"]);
    assert.equal((await reader.call("GET", path)).status, 200);
    assert.equal((await reader.call("POST", `/connections/${connection.id}/test`)).status, 403);
    assert.equal((await api.call("GET", path.replace(connection.id, second.id))).status, 404);
    const stranger = await makeApiClient(running.service, other, ["signet:connections:write"]);
    assert.equal((await stranger.call("GET", path)).status, 404);
    assert.equal((await stranger.call("POST", `/connections/${connection.id}/test`)).status, 404);
    const directory = await api.call("POST", "/connections", { body: { kind: "scim", name: "Directory" } });
    const id = String(directory.body["id"]);
    assert.equal((await api.call("POST", `/connections/${id}/test`)).status, 404);
  });
});
