// Identities of an account: what a provider's claims give a new one, how they are shown, and what unlinking needs.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../testing/fakes/hostile-provider.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { connectTo, signInUpstream } from "../../../testing/fixtures/upstream-sign-in.ts";
import { follow, logIn, showsConsent, showsLogin, visit } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { listAuditEvents } from "../../audit/audit.store.ts";
import { lockUserAccount } from "../../users/account.store.ts";
import { findUserByEmail } from "../../users/users.store.ts";
import { createUser } from "../../users/users.ts";
import type { Connection } from "../connection.ts";
import { deleteIdentity, findIdentity, insertIdentity } from "./linked-identities.store.ts";
import { LastWayIn, unlinkIdentity } from "./unlink-identity.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let there: HostileProvider;
  let connection: Connection;
  let api: ApiClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      ...{ databaseUrl: await fresh(), clock, env: { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" } },
    });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    const mapping = { username: "nick", "attributes.team": "team", "attributes.level": "/org/level" };
    connection = await connectTo(running, org, there, "There", { emailTrust: "verifiedClaim", mapping });
    api = await makeApiClient(running.service, org, ["signet:users:write"]);
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const signIn = (browser: TestBrowser) => signInUpstream({ running, org, there, connection, browser });
  /** Signed in by the provider for the first time. */
  const newcomer = async (sub: string, claims = {}) => {
    there.claims = { sub, email: `${sub}@there.example`, ...claims };
    const browser = testBrowser();
    assert.ok(showsConsent(await signIn(browser)));
    const found = await findUserByEmail(
      running.service.database.query,
      org.organisation.id,
      `${sub}@there.example`,
    );
    assert.ok(found);
    return { browser, user: found.user };
  };
  const isLinked = async (subject: string) => {
    const key = { orgId: org.organisation.id, connectionId: connection.id, subject };
    return (await findIdentity(running.service.database.query, key)) !== undefined;
  };
  /** With a password. */
  const linked = async (subject: string) => {
    const { service } = running;
    const userId = await createUser(service, {
      ...{ organisation: org.organisation, email: `${subject}@there.example`, password: org.user.password },
      ...{ emailVerified: true, firstname: "Uma", surname: "Berg", role: "Standard", actor: "test" },
    });
    const { id: orgId } = org.organisation;
    const times = { createdAt: clock(), lastSignInAt: clock() };
    await insertIdentity(service.database.query, {
      orgId,
      connectionId: connection.id,
      subject,
      userId,
      ...times,
    });
    return userId;
  };
  const ofUser = (userId: string) => `/users/${userId}/identities/${connection.id}`;

  test("claims give a new account its username and attributes; what is not valid, or taken, is left out", async () => {
    const { user } = await newcomer("grace", { nick: "Grace", team: ["a", "b"], org: { level: 3 } });
    assert.deepEqual([user.username, user.attributes], ["grace", { team: ["a", "b"], level: 3 }]);
    const { user: second } = await newcomer("second", { nick: "grace", team: "x".repeat(16_001) });
    assert.deepEqual([second.username, second.attributes], [null, {}]);
    const { user: third } = await newcomer("third", { nick: "a@b" });
    assert.equal(third.username, null);
  });

  test("the record of a user has the identities, alone and in the list", async () => {
    const { user } = await newcomer("listed");
    const identities = [{ connectionId: connection.id, subject: "listed" }];
    assert.deepEqual((await api.call("GET", `/users/${user.id}`)).body["identities"], identities);
    const { body } = await api.call("GET", `/users?filter=${encodeURIComponent(`id eq "${user.id}"`)}`);
    const [item] = body["items"] as Array<{ identities: unknown }>;
    assert.deepEqual(item?.identities, identities);
  });

  test("the last way in stays, by the API and by the account page", async () => {
    const { user, browser } = await newcomer("only");
    const refused = await api.call("DELETE", ofUser(user.id));
    assert.equal(refused.status, 409);
    const security = `${org.issuer}/account/security`;
    assert.match((await browser.get(security)).body, new RegExp(`id="connection-unlink-${connection.id}"`));
    const address = `${security}/connection?id=${connection.id}`;
    const page = await browser.get(address);
    const { status, body } = await browser.post(address, page.hidden);
    assert.equal(status, 409);
    assert.match(body, /only way to sign in/);
    assert.ok(await isLinked("only"));
    assert.equal((await browser.get(`${security}/connection?id=${org.organisation.id}`)).status, 404);
  });

  test("a connection that is disabled is no other way in", async () => {
    const { user } = await newcomer("disabled");
    const off = await connectTo(running, org, there, "Off");
    const { query } = running.service.database;
    const { id: orgId } = org.organisation;
    const times = { createdAt: clock(), lastSignInAt: clock() };
    await insertIdentity(query, { orgId, connectionId: off.id, subject: "x", userId: user.id, ...times });
    const act = { orgId, actor: "test", userId: user.id, connectionId: connection.id };
    await query.updateTable("connection").set({ enabled: 0 }).where("id", "=", off.id).execute();
    await assert.rejects(unlinkIdentity(running.service, act), LastWayIn);
    await query.updateTable("connection").set({ enabled: 1 }).where("id", "=", off.id).execute();
    assert.equal(await unlinkIdentity(running.service, act), true);
  });

  test("who has a password is unlinked, once, and audited; another organisation's caller reaches nobody", async () => {
    const userId = await linked("linked");
    const other = await makeOrganisation(running.service);
    const stranger = await makeApiClient(running.service, other, ["signet:users:write"]);
    assert.equal((await stranger.call("DELETE", ofUser(userId))).status, 404);
    assert.equal((await api.call("DELETE", ofUser(userId))).status, 204);
    assert.equal(await isLinked("linked"), false);
    assert.equal((await api.call("DELETE", ofUser(userId))).status, 404);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 5);
    assert.ok(events.some(({ action, target }) => action === "identity.unlinked" && target === userId));
    // The provider is a stranger again: no account is given to it.
    there.claims = { sub: "linked", email: "linked@there.example" };
    assert.match((await signIn(testBrowser())).body, /id="link-account"/);
  });

  test("the account page unlinks after a confirmation", async () => {
    const userId = await linked("own");
    const browser = testBrowser();
    await logIn(browser, org, await visit(browser, org), { email: "own@there.example" });
    const address = `${org.issuer}/account/security/connection?id=${connection.id}`;
    const page = await browser.get(address);
    assert.match(page.body, /Unlink There\?/);
    const done = await follow(browser, await browser.post(address, page.hidden));
    assert.match(done.body, /Connection unlinked/);
    assert.equal(await isLinked("own"), false);
    assert.doesNotMatch(done.body, /id="connection-unlink-/);
    const { body } = await api.call("GET", `/users/${userId}`);
    assert.deepEqual(body["identities"], []);
    // Who came by the connection itself is signed out with it.
    await linked("gone");
    there.claims = { sub: "gone" };
    const federated = testBrowser();
    await signIn(federated);
    const confirm = await federated.get(address);
    assert.ok(showsLogin(await follow(federated, await federated.post(address, confirm.hidden))));
  });

  test("of two that unlink the last two ways in at once, one is refused", async () => {
    const { user } = await newcomer("both");
    const other = await connectTo(running, org, there, "Also");
    const { id: orgId } = org.organisation;
    const times = { createdAt: clock(), lastSignInAt: clock() };
    await insertIdentity(running.service.database.query, {
      ...{ orgId, connectionId: other.id, subject: "both", userId: user.id, ...times },
    });
    const act = { orgId, actor: "test", userId: user.id };
    // The first holds the account while the second begins.
    const [isHeld, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = running.service.database.transaction(async (tx) => {
      await lockUserAccount(tx, user, clock());
      await deleteIdentity(tx, { orgId, userId: user.id, connectionId: other.id });
      isHeld.resolve();
      await goOn.promise;
    });
    await isHeld.promise;
    const second = unlinkIdentity(running.service, { ...act, connectionId: connection.id }).then(
      () => undefined,
      (error: unknown) => error,
    );
    await setTimeout(200);
    goOn.resolve();
    await first;
    assert.ok((await second) instanceof LastWayIn);
  });
});
