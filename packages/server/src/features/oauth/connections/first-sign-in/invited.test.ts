// Invitations that name a provider: whoever has the link accepts there, gets the account that was made for them, and no password.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import type { Connection } from "../../../../core/connections/connection.ts";
import { changeSignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../../testing/fakes/hostile-provider.ts";
import { MAIL_ENV, newestLink } from "../../../../testing/fakes/mailbox.ts";
import { type ApiClient, makeApiClient } from "../../../../testing/fixtures/api-client.ts";
import { connectTo, signInUpstream } from "../../../../testing/fixtures/upstream-sign-in.ts";
import { follow, sessionCookie, showsConsent } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let there: HostileProvider;
  let connection: Connection;
  let api: ApiClient;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1", ...MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    connection = await connectTo(running, org, there, "There", { createAccounts: false });
    api = await makeApiClient(running.service, org, ["signet:users:write"]);
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  let count = 0;
  const invite = async (more: object = {}) => {
    const email = `invited${++count}@acme.example`;
    const body = { email, connectionId: connection.id, ...more };
    return { email, ...(await api.call("POST", "/invitations", { body })) };
  };
  /** The button of the page behind the link; where the provider is asked. */
  const accept = async (browser: TestBrowser, email: string): Promise<TestPage> => {
    const page = await follow(browser, await browser.get(await newestLink(running.service, email)));
    assert.match(page.body, /id="invitation-accept"/);
    assert.match(page.body, /Continue with There/);
    assert.doesNotMatch(page.body, /type="password"/);
    const sent = await browser.post(page.url, page.hidden);
    return browser.get(String(sent.location));
  };
  const comeBack = async (browser: TestBrowser, sent: TestPage) =>
    follow(browser, await browser.get(there.comeBack(String(sent.location))));
  const userOf = async (id: unknown) => (await api.call("GET", `/users/${String(id)}`)).body;
  const actions = async () =>
    (await listAuditEvents(running.service.database.query, org.organisation.id, 20)).map(
      ({ action }) => action,
    );

  test("accepted at the provider: linked, verified, signed in, without a password", async () => {
    const made = await invite({ firstname: "Ida" });
    assert.deepEqual([made.status, made.body["connectionId"]], [201, connection.id]);
    there.claims = { sub: "ida", email: "other@elsewhere.example", email_verified: true };
    const browser = testBrowser();
    const page = await comeBack(browser, await accept(browser, made.email));
    assert.equal(page.status, 200, page.body);
    assert.equal(new URL(page.url).pathname, `/oauth/${org.organisation.id}/account`);
    assert.ok(sessionCookie(browser, org));
    const user = await userOf(made.body["userId"]);
    assert.deepEqual(
      [user["email"], user["emailVerified"], user["hasPassword"], user["state"]],
      [made.email, true, false, "active"],
    );
    assert.deepEqual(user["identities"], [{ connectionId: connection.id, subject: "ida" }]);
    const path = `/invitations/${String(made.body["id"])}`;
    assert.equal((await api.call("GET", path)).body["state"], "accepted");
    assert.ok((await actions()).includes("invitation.accepted"));
    assert.ok(showsConsent(await signInUpstream({ running, org, there, connection })), "from now on");
  });

  test("the link works once, and no password can be set by it", async () => {
    const made = await invite();
    there.claims = { sub: "once", email: "once@elsewhere.example" };
    const link = await newestLink(running.service, made.email);
    const id = link.split("/").at(-1) ?? "";
    const answer = await fetch(`${running.baseUrl}/legacy/api/Authentication/Action/${id}/AcceptInvitation`, {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/json" },
      body: JSON.stringify({ NewPassword: "plum tractor ninety" }),
    });
    assert.equal(answer.status, 422);
    const [first, second] = [testBrowser(), testBrowser()];
    const both = [await accept(first, made.email), await accept(second, made.email)] as const;
    await comeBack(first, both[0]);
    there.claims = { sub: "twice", email: "twice@elsewhere.example" };
    const late = await comeBack(second, both[1]);
    assert.match(late.body, /id="connection-error"/);
    const user = await userOf(made.body["userId"]);
    assert.deepEqual(user["identities"], [{ connectionId: connection.id, subject: "once" }]);
  });

  test("an identity of somebody else's accepts nothing, and the link still works", async () => {
    const [one, two] = [await invite(), await invite()];
    there.claims = { sub: "taken", email: "taken@elsewhere.example" };
    const browser = testBrowser();
    await comeBack(browser, await accept(browser, one.email));
    const other = testBrowser();
    const refused = await comeBack(other, await accept(other, two.email));
    assert.match(refused.body, /id="connection-error"/);
    there.claims = { sub: "own", email: "own@elsewhere.example" };
    const again = await comeBack(other, await accept(other, two.email));
    assert.equal(again.status, 200, again.body);
    assert.equal((await userOf(two.body["userId"]))["emailVerified"], true);
  });

  test("withdrawn on the way: nothing is linked", async () => {
    const made = await invite();
    there.claims = { sub: "withdrawn", email: "w@elsewhere.example" };
    const browser = testBrowser();
    const sent = await accept(browser, made.email);
    assert.equal((await api.call("DELETE", `/invitations/${String(made.body["id"])}`)).status, 204);
    assert.match((await comeBack(browser, sent)).body, /id="connection-error"/);
    const user = await userOf(made.body["userId"]);
    assert.deepEqual([user["identities"], user["emailVerified"]], [[], false]);
  });

  test("sent again it is still of the provider, five times an hour", async () => {
    const made = await invite();
    const path = `/invitations/${String(made.body["id"])}`;
    for (let time = 0; time < 5; time++) {
      const sent = await api.call("POST", `${path}/resend`);
      assert.deepEqual([sent.status, sent.body["connectionId"]], [200, connection.id]);
    }
    const limited = await api.call("POST", `${path}/resend`);
    assert.deepEqual([limited.status, limited.body["type"]], [429, "urn:signet:error:rate-limited"]);
    assert.ok(Number(limited.headers.get("retry-after")) > 0);
    const other = await invite();
    assert.equal((await api.call("POST", `/invitations/${String(other.body["id"])}/resend`)).status, 200);
    clock.advance(3_600_000);
    api = await makeApiClient(running.service, org, ["signet:users:write"]);
    assert.equal((await api.call("POST", `${path}/resend`)).status, 200);
    await accept(testBrowser(), made.email);
  });

  test("only an enabled connection of the organisation that signs people in", async () => {
    const other = await makeOrganisation(running.service, "Other");
    const foreign = await connectTo(running, other, there, "Foreign");
    for (const connectionId of [foreign.id, crypto.randomUUID(), "x"])
      assert.equal((await invite({ connectionId })).status, 422, connectionId);
    const made = await invite();
    const disable = (enabled: boolean) =>
      changeSignInConnection(running.service, {
        ...{ orgId: org.organisation.id, id: connection.id, actor: "test" },
        ask: (before) => ({ ...before, enabled, clientSecret: undefined }) as never,
      });
    await disable(false);
    assert.equal((await invite()).status, 422);
    const page = await follow(
      testBrowser(),
      await testBrowser().get(await newestLink(running.service, made.email)),
    );
    assert.equal(page.status, 404);
    await disable(true);
    const items = [{ email: `csv${++count}@acme.example`, connectionId: connection.id }];
    const { body } = await api.call("POST", "/invitations/batch", { body: { items } });
    assert.equal((body["results"] as Array<{ status: string }>)[0]?.status, "created");
  });
});
