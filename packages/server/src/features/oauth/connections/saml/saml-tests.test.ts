// A test sign-in at a SAML identity provider tells what it says and what would happen, and makes nothing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import type { Connection } from "../../../../core/connections/connection.ts";
import { changeSignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import type { Schema } from "../../../../db/schema.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import {
  attribute,
  honestAnswer,
  newSamlKey,
  readAuthnRequest,
  type SamlAnswer,
} from "../../../../testing/fakes/hostile-saml-provider.ts";
import { type ApiClient, makeApiClient } from "../../../../testing/fixtures/api-client.ts";
import { samlSignIns } from "../../../../testing/fixtures/saml-sign-in.ts";
import { showsConsent, showsLogin, visit } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const key = newSamlKey();

const MADE = [
  ...(["user_account", "membership", "linked_identity", "browser_session", "group_claim"] as const),
  ...(["pending_identity", "upstream_sign_in", "connection_sign_in", "connection_start"] as const),
  ...(["email_code", "outgoing_mail", "saml_return"] as const),
] satisfies ReadonlyArray<keyof Schema>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let api: ApiClient;
  let connection: Connection;
  let saml: ReturnType<typeof samlSignIns>;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    saml = samlSignIns({ running, org, clock, key });
    connection = await saml.begin();
    api = await makeApiClient(running.service, org, ["signet:connections:write"]);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const enable = (enabled: boolean) =>
    changeSignInConnection(running.service, {
      ...{ orgId: org.organisation.id, actor: "test", id: connection.id },
      ask: ({ kind, name, settings }) => ({ kind, name, enabled, clientSecret: undefined, settings }),
    });
  const begin = async (browser: TestBrowser = testBrowser()) => {
    const { status, body } = await api.call("POST", `/connections/${connection.id}/test`);
    assert.equal(status, 201, JSON.stringify(body));
    const { location = "" } = await browser.get(String(body["url"]));
    const read = async () =>
      (await api.call("GET", `/connections/${connection.id}/tests/${String(body["id"])}`))
        .body as unknown as {
        state: string;
        reason: string | null;
        claims: Record<string, unknown> | null;
        mapped: Record<string, unknown> | null;
        account: { action: string } | null;
      };
    return { browser, asked: readAuthnRequest(location), read };
  };
  const answer = async (change: Partial<SamlAnswer> = {}) => {
    const begun = await begin();
    const said = { ...honestAnswer(begun.asked, clock()), ...change };
    const parked = await saml.post(begun.asked, saml.signedResponse(said));
    assert.equal(parked.status, 303, parked.body);
    const page = await begun.browser.get(parked.location ?? "");
    return { ...begun, parked, page, told: await begun.read() };
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

  test("attributes as they arrived, how they map, what would happen: of one that is disabled, and nothing is made", async () => {
    await enable(false);
    const before = await counts();
    const attributes = attribute("mail", ["test@there.example"]) + attribute("roles", ["a", "b"]);
    const { browser, page, told } = await answer({ nameId: "tested", attributes });
    assert.equal(page.status, 200, page.body);
    assert.match(page.body, /id="connection-test-close"/);
    assert.deepEqual([told.state, told.reason, told.account?.action], ["succeeded", null, "create"]);
    assert.deepEqual(
      [told.claims?.["NameID"], told.claims?.["mail"], told.claims?.["roles"]],
      ["tested", "test@there.example", ["a", "b"]],
    );
    assert.deepEqual(
      [told.mapped?.["email"], told.mapped?.["emailVerified"], told.mapped?.["firstname"]],
      ["test@there.example", true, ""],
    );
    assert.deepEqual(await counts(), before);
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual([event?.action, event?.details], ["connection.tested", { outcome: "succeeded" }]);
    assert.ok(showsLogin(await visit(browser, org)), "nobody is signed in");
    await enable(true);
  });

  test("a message that is refused is told where the test is read, by its reason", async () => {
    const { page, told } = await answer({ audience: "https://other.example" });
    assert.equal(page.status, 400);
    assert.match(page.body, /id="connection-test-close"/);
    assert.deepEqual([told.state, told.reason, told.claims], ["failed", "audience-mismatch", null]);
    assert.equal((await answer({ status: "Responder" })).told.reason, "status-not-success");
  });

  test("what came back ends a test in the browser that was sent, once; another's ends nothing", async () => {
    const begun = await begin();
    const bring = async () => {
      const xml = saml.signedResponse(honestAnswer(begun.asked, clock()));
      return (await saml.post(begun.asked, xml)).location ?? "";
    };
    const other = await testBrowser().get(await bring());
    assert.equal(other.status, 400);
    assert.equal((await begun.read()).state, "pending");
    const [first, second] = [await bring(), await bring()];
    assert.equal((await begun.browser.get(first)).status, 200);
    assert.equal((await begun.read()).state, "succeeded");
    assert.equal((await begun.browser.get(second)).status, 400);
    await saml.failsWith(
      await saml.post(begun.asked, saml.signedResponse(honestAnswer(begun.asked, clock()))),
      "state-unknown",
    );
  });

  test("a test is no sign-in, and a sign-in no test", async () => {
    await enable(false);
    const begun = await begin();
    const xml = saml.signedResponse({ ...honestAnswer(begun.asked, clock()), inResponseTo: "_another" });
    const parked = await saml.post(begun.asked, xml);
    await begun.browser.get(parked.location ?? "");
    assert.equal((await begun.read()).reason, "response-unsolicited");
    await enable(true);
    const browser = testBrowser();
    const started = await saml.start(browser);
    // What is brought for a sign-in waits, and the connection is disabled meanwhile.
    const waiting = await saml.post(started, saml.signedResponse(honestAnswer(started, clock())));
    await enable(false);
    assert.equal((await browser.get(waiting.location ?? "")).status, 404);
    assert.equal((await saml.post(started, "<a/>")).status, 404);
    await enable(true);
    assert.ok(showsConsent(await saml.signIn()));
  });
});
