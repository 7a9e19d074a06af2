/** A test sign-in from the console: started there, its result in words; and the groups that claims are mapped to. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { findConnection } from "../../../core/connections/connections.store.ts";
import { recordConnectionSignIn } from "../../../core/connections/sign-in/sign-in-log.store.ts";
import { createGroup } from "../../../core/groups/groups.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../testing/fakes/hostile-provider.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { connectTo } from "../../../testing/fixtures/upstream-sign-in.ts";
import { type ConsoleBrowser, consoleBrowser, plain } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let here: ConsoleBrowser;
  let there: HostileProvider;
  let clock: FakeClock;
  let orgId: string;
  let group: string;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await seedRecords(running.service, "Acme");
    orgId = org.organisation.id;
    here = await consoleBrowser(running, org);
    there = await startHostileProvider(clock);
    const content = { displayName: "Staff of R = D", description: null, externalId: null };
    group = (await createGroup(running.service, { orgId, actor: "test", content })).id;
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const find = (id: string) => findConnection(running.service.database.query, { orgId, id });
  const connect = (name: string, more = {}) => connectTo(running, org, there, name, more);
  const startTest = async (id: string) => {
    const page = await here.send(`/connections/${id}/test`);
    assert.equal(page.status, 200, page.body);
    const [, link = ""] = /id="connection-test-link">([^<]+)</.exec(page.body) ?? [];
    const [, result = ""] = /id="connection-test-result" href="([^"]+)"/.exec(page.body) ?? [];
    return { page, link: plain(link), result: plain(result).replace(/^.*(?=\/connections\/)/, "") };
  };
  const comeBack = async (link: string) => {
    const browser = testBrowser();
    const { location = "" } = await browser.get(link);
    return browser.get(there.comeBack(location));
  };

  test("its link is shown once; the result has what would happen, how claims map, and the claims", async () => {
    const { id } = await connect("Tested", {
      ...{ emailTrust: "verifiedClaim", groups: { from: "teams", map: { rd: group } } },
      mapping: { "attributes.costCentre": "cost" },
    });
    there.claims = { teams: ["rd"], cost: "<b>17</b>" };
    const { page, link, result } = await startTest(id);
    assert.match(page.body, /Waiting for the sign-in/);
    assert.match((await here.get(result)).body, /Waiting for the sign-in/);
    assert.doesNotMatch((await here.get(result)).body, /sgn_tl_/);
    const end = await comeBack(link);
    assert.doesNotMatch(end.body, /connection-test-show/, "nothing for who has no console");
    const { body } = await here.get(result);
    assert.match(body, /id="connection-test-account">A new account is created\./);
    assert.match(body, /ada@there\.example/);
    assert.match(body, /attributes\.costCentre[\s\S]*&lt;b&gt;17&lt;\/b&gt;/);
    assert.match(body, /<code>groups<\/code>[\s\S]*?Staff of R = D/);
    assert.match(body, /id="connection-test-claims"[\s\S]*&quot;sub&quot;: &quot;ada-7&quot;/);
    assert.match((await here.get(`${result}/state`)).body, /is valid/);
  });

  test("a failure says why, in words; so does an account that would be refused", async () => {
    const { id } = await connect("Failing");
    there.claims = { aud: "another" };
    const failed = await startTest(id);
    await comeBack(failed.link);
    const { body } = await here.get(failed.result);
    assert.match(body, /meant for another service[\s\S]*<code>audience-mismatch<\/code>/);
    const refusing = await connect("Refusing", { createAccounts: false, emailTrust: "verifiedClaim" });
    there.claims = {};
    const refused = await startTest(refusing.id);
    await comeBack(refused.link);
    assert.match(
      (await here.get(refused.result)).body,
      /The sign-in is refused\.[\s\S]*accounts-not-created/,
    );
  });

  test("who started it in this browser finds the way back to the result", async () => {
    const { id } = await connect("Own browser");
    const { link } = await startTest(id);
    const { location = "" } = await here.browser.get(link);
    const end = await here.browser.get(there.comeBack(location));
    assert.match(end.body, /id="connection-test-show" href="\/oauth\/manage\/[^"]*\/tests\//);
  });

  test("a test of another connection, or a directory's, is nowhere", async () => {
    const [one, other] = [await connect("One"), await connect("Other")];
    const { result } = await startTest(one.id);
    for (const path of [result.replace(one.id, other.id), result.replace(/[^/]*$/, "nonsense")]) {
      assert.equal((await here.get(path)).status, 404, path);
      assert.equal((await here.get(`${path}/state`)).status, 404, path);
    }
    const directory = org.ids["connections"] ?? "";
    for (const rest of ["/test", "/groups"])
      assert.equal((await here.get(`/connections/${directory}${rest}`)).status, 404, rest);
  });

  test("groups are mapped by their names, each value once, and groups of others are not", async () => {
    const { id } = await connect("Groups");
    const path = `/connections/${id}/groups`;
    const mapOf = async () => (await find(id))?.settings?.groups ?? null;
    for (const [map, fault] of [
      ["rd", /one mapping a line/],
      ["rd = Nowhere", /Not a group of your own: Nowhere/],
      [`rd = ${group}\nrd = ${group}`, /one mapping a line/],
      [`rd = ${crypto.randomUUID()}`, /Not a group of your own/],
    ] as const) {
      const refused = await here.send(path, { from: "groups", map });
      assert.equal(refused.status, 400, map);
      assert.match(refused.body, fault);
    }
    assert.equal((await here.send(path, { from: "/a~2", map: "" })).status, 400);
    assert.equal(await mapOf(), null);
    const map = `cn=rd,ou=groups = ${group.toUpperCase()}`;
    const saved = await here.send(path, { from: "/realm/roles", map });
    assert.equal(saved.status, 303, saved.body);
    assert.deepEqual(await mapOf(), { from: "/realm/roles", map: { "cn=rd,ou=groups": group } });
    assert.match(
      (await here.get(`/connections/${id}`)).body,
      /cn=rd,ou=groups<\/code>[\s\S]*?Staff of R = D/,
    );
    // Sent again as it was shown: nothing changes.
    assert.equal((await here.send(path)).status, 303);
    assert.deepEqual(await mapOf(), { from: "/realm/roles", map: { "cn=rd,ou=groups": group } });
    assert.equal((await here.send(path, { from: "", map: "" })).status, 303);
    assert.equal(await mapOf(), null);
  });

  test("a failed sign-in is in the log with its reason in words, and its reference finds it in the audit log", async () => {
    const { id } = await connect("Logged");
    await recordConnectionSignIn(running.service.database.query, {
      ...{ orgId, connectionId: id, at: clock(), outcome: "failed", reason: "issuer-mismatch" },
      ...{ detail: "of the answer", subject: null, email: null, reference: "req-77" },
    });
    const { body } = await here.get(`/connections/${id}/sign-ins?outcome=failed`);
    assert.match(body, /is not from Logged[\s\S]*<code>issuer-mismatch<\/code>[\s\S]*of the answer/);
    assert.match(body, /href="[^"]*\/audit-log\?search=req-77"/);
  });

  test("a new provider shows its redirect URI and the steps there before anything is saved", async () => {
    for (const type of ["entra", "google", "okta", "apple", "github", "keycloak", "oidc"]) {
      const { body } = await here.get(`/connections/new?type=${type}`);
      const [, id = ""] = /name="id" value="([^"]+)"/.exec(body) ?? [];
      assert.match(body, /id="setup-steps"/, type);
      assert.ok(body.includes(`/oauth/${orgId}/connections/${id}/callback`), type);
    }
    const fields = { name: "GitHub", clientId: "Ov23", clientSecret: "s3cret-of-github", issuer: "" };
    const made = await here.send("/connections/new?type=github", fields);
    assert.equal(made.status, 303, made.body);
    const connection = await find(/connections\/([0-9a-f-]{36})/.exec(made.location ?? "")?.[1] ?? "");
    assert.deepEqual(
      [connection?.kind, connection?.settings?.preset, connection?.settings?.oidc?.issuer],
      ["oauth", "github", "https://github.com"],
    );
    const wrong = await here.send("/connections/new?type=github", {
      ...fields,
      name: "B",
      issuer: "https://x/y",
    });
    assert.match(wrong.body, /id="issuer-fault"/);
    const enterprise = { ...fields, name: "Enterprise", issuer: "https://git.acme.example" };
    assert.equal((await here.send("/connections/new?type=github", enterprise)).status, 303);
  });
});
