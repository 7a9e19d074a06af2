// What came from a provider: what tokens and agents are told of it, and that it ends with the link and the connection.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { Connection } from "../../../core/connections/connection.ts";
import { deleteConnection } from "../../../core/connections/delete-connection.ts";
import { insertIdentity } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { endUpstreamSessions } from "../../../core/connections/sign-in/upstream-sign-ins.ts";
import { validateSessionKey } from "../../../core/session-keys/session-keys.ts";
import { createUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../testing/fakes/hostile-provider.ts";
import { makeAgent, makePool } from "../../../testing/fixtures/agent.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { credentials, postForm, refresh } from "../../../testing/fixtures/client.ts";
import { giveAuthenticator, showFactor, showsTwoFactor } from "../../../testing/fixtures/factors.ts";
import { federate, keyOf, makeFederatedApp } from "../../../testing/fixtures/federation.ts";
import { convertedKey } from "../../../testing/fixtures/session-key.ts";
import { connectTo, signInUpstream } from "../../../testing/fixtures/upstream-sign-in.ts";
import { logIn, showsConsent, showsLogin, tokensOf, visit } from "../../../testing/fixtures/visit.ts";
import { payloadOf } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const CLAIMS = JSON.stringify({
  id_token: { idp: null, upstream: null },
  userinfo: { upstream: null, idp: null },
});

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let there: HostileProvider;
  let connection: Connection;
  let api: ApiClient;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    connection = await connectTo(running, org, there, "There", { emailTrust: "verifiedClaim" });
    api = await makeApiClient(running.service, org, ["signet:users:write"]);
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const orgId = () => org.organisation.id;
  /** Has a password too, and signs in at the provider. */
  const person = async (sub: string, of = connection) => {
    const userId = await createUser(running.service, {
      ...{ organisation: org.organisation, email: `${sub}@there.example`, password: org.user.password },
      ...{ emailVerified: true, firstname: "Uma", surname: "Berg", role: "Standard", actor: "test" },
    });
    const times = { createdAt: clock(), lastSignInAt: clock() };
    const identity = { orgId: orgId(), connectionId: of.id, subject: sub, userId, ...times };
    await insertIdentity(running.service.database.query, identity);
    return userId;
  };
  const signIn = async (
    browser: TestBrowser,
    sub: string,
    claims: Record<string, unknown> = {},
    of = connection,
  ) => {
    there.claims = { sub, ...claims };
    there.userinfo = { sub };
    assert.ok(showsConsent(await signInUpstream({ running, org, there, connection: of, browser })));
  };
  const userinfo = async (accessToken: string) => {
    const answer = await fetch(`${org.issuer}/userinfo`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const isRefreshed = async (refreshToken: string) => (await refresh(org, refreshToken)).status === 200;
  const isSignedIn = async (browser: TestBrowser) => !showsLogin(await visit(browser, org));

  test("idp and upstream are told on demand alone, also when refreshed, and amr and acr are Signet's", async () => {
    await person("tokens");
    const browser = testBrowser();
    const authTime = Math.floor(clock() / 1000) - 30;
    await signIn(browser, "tokens", { acr: "gold", amr: ["pwd", "hwk"], auth_time: authTime, sid: "s-1" });
    const upstream = { iss: there.issuer, acr: "gold", amr: ["pwd", "hwk"], auth_time: authTime };
    const asked = { scope: "openid offline_access", claims: CLAIMS };
    const tokens = await tokensOf(browser, org, asked);
    const idToken = payloadOf(tokens.idToken);
    assert.deepEqual([idToken["idp"], idToken["upstream"]], [connection.id, upstream]);
    assert.deepEqual([idToken["amr"], idToken["acr"]], [["fed"], "urn:signet:acr:pwd"]);
    const access = payloadOf(tokens.accessToken);
    assert.deepEqual([access["idp"], access["upstream"]], [undefined, undefined]);
    const { body } = await userinfo(tokens.accessToken);
    assert.deepEqual([body["idp"], body["upstream"]], [connection.id, upstream]);
    const again = payloadOf((await refresh(org, tokens.refreshToken)).body["id_token"]);
    assert.deepEqual([again["idp"], again["upstream"]], [connection.id, upstream]);

    const silent = await tokensOf(browser, org, { scope: "openid" });
    const unasked = { ...payloadOf(silent.idToken), ...(await userinfo(silent.accessToken)).body };
    assert.ok(!("idp" in unasked) && !("upstream" in unasked));
    // Of the claims that were asked for in one place, the other place has none.
    const one = await tokensOf(browser, org, { claims: JSON.stringify({ id_token: { idp: null } }) });
    assert.equal(payloadOf(one.idToken)["idp"], connection.id);
    assert.ok(!("idp" in (await userinfo(one.accessToken)).body));
  });

  test("what cannot be kept is not told, and whoever signed in by a password has no provider", async () => {
    await person("bare");
    const browser = testBrowser();
    await signIn(browser, "bare", { acr: 7, amr: "pwd", sid: "\u0000" });
    const idToken = payloadOf((await tokensOf(browser, org, { claims: CLAIMS })).idToken);
    assert.deepEqual(idToken["upstream"], { iss: there.issuer });
    // The same session, signed in anew by a password: it came from nobody else.
    clock.advance(1_000);
    const again = await visit(browser, org, { more: { prompt: "login" } });
    await logIn(browser, org, again, { email: "bare@there.example" });
    const own = payloadOf((await tokensOf(browser, org, { claims: CLAIMS })).idToken);
    assert.deepEqual([own["amr"], own["idp"], own["upstream"]], [["pwd"], undefined, undefined]);
  });

  test("a pool's agent is shown the connection, with what the provider claimed", async () => {
    await person("agent");
    const pool = await makePool(running.service, org);
    const agent = await makeAgent(running.service, org, pool);
    const client = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], signingPoolId: pool.id },
    });
    const browser = testBrowser();
    await signIn(browser, "agent", { acr: "gold", amr: ["hwk"] });
    const contexts: unknown[] = [];
    const serving = agent.serve(async (claimed) => {
      contexts.push((claimed as unknown as { context: Record<string, unknown> }).context["connection"]);
      return agent.sign(claimed);
    });
    try {
      await tokensOf(browser, org, { scope: "openid" }, client);
      const { id, name, kind } = connection;
      assert.deepEqual(contexts[0], { id, name, kind, issuer: there.issuer, acr: "gold", amr: ["hwk"] });
      const own = testBrowser();
      await tokensOf(own, org, { scope: "openid" }, client);
      assert.equal(contexts.at(-1), undefined);
    } finally {
      await serving.stop();
    }
  });

  test("unlinking ends what came from the connection, and nothing else of the account", async () => {
    const userId = await person("unlinked");
    const [federated, own] = [testBrowser(), testBrowser()];
    await signIn(federated, "unlinked");
    const from = await tokensOf(federated, org, { scope: "openid offline_access" });
    await logIn(own, org, await visit(own, org), { email: "unlinked@there.example" });
    const kept = await tokensOf(own, org, { scope: "openid offline_access" });
    assert.equal((await api.call("DELETE", `/users/${userId}/identities/${connection.id}`)).status, 204);
    assert.deepEqual([await isSignedIn(federated), await isSignedIn(own)], [false, true]);
    assert.equal((await userinfo(from.accessToken)).status, 401);
    assert.equal((await userinfo(kept.accessToken)).status, 200);
    assert.deepEqual(
      [await isRefreshed(from.refreshToken), await isRefreshed(kept.refreshToken)],
      [false, true],
    );
  });

  test("a deleted connection ends sessions, refresh tokens and session keys that came from it, permanent ones too", async () => {
    const doomed = await connectTo(running, org, there, "Doomed", { emailTrust: "verifiedClaim" });
    await person("doomed", doomed);
    const portal = await makeFederatedApp(running.service, org, { permanentSessionKeys: true } as object);
    const browser = testBrowser();
    await signIn(browser, "doomed", {}, doomed);
    const tokens = await tokensOf(browser, org, { scope: "openid offline_access" });
    const temporary = keyOf(await federate(browser, running, portal)) ?? "";
    const permanent = await convertedKey(
      running.service,
      keyOf(await federate(browser, running, portal)) ?? "",
      "UserTemp",
    );
    const code = await tokensOf(browser, org, { scope: "openid" });
    assert.equal(
      await deleteConnection(running.service, { orgId: orgId(), id: doomed.id, actor: "test" }),
      true,
    );
    assert.equal(await isSignedIn(browser), false);
    assert.equal((await userinfo(code.accessToken)).status, 401);
    assert.equal(await isRefreshed(tokens.refreshToken), false);
    for (const key of [temporary, permanent])
      assert.equal(typeof (await validateSessionKey(running.service, key)), "string");
    const { status, body } = await postForm(`${org.issuer}/introspect`, {
      ...{ token: tokens.accessToken, ...credentials(org.web) },
    });
    assert.deepEqual([status, body["active"]], [200, false]);
  });

  test("a sign-in that waits for its second factor while its link ends starts no session", async () => {
    const app = await giveAuthenticator(running.service, org);
    const times = { createdAt: clock(), lastSignInAt: clock() };
    const identity = { orgId: orgId(), connectionId: connection.id, subject: "waiting", userId: org.user.id };
    const link = () => insertIdentity(running.service.database.query, { ...identity, ...times });
    const waits = async (browser: TestBrowser) => {
      there.claims = { sub: "waiting" };
      there.userinfo = { sub: "waiting" };
      const page = await signInUpstream({ running, org, there, connection, browser });
      assert.ok(showsTwoFactor(page));
      return page;
    };
    const unlink = () => api.call("DELETE", `/users/${org.user.id}/identities/${connection.id}`);
    await link();
    const [late, relinked, good] = [testBrowser(), testBrowser(), testBrowser()];
    const page = await waits(late);
    const again = await waits(relinked);
    assert.equal((await unlink()).status, 204);
    clock.advance(30_000);
    await showFactor(late, org, page, { code: app.code(clock()) });
    assert.equal(await isSignedIn(late), false);
    // Nor where the same identity has been linked again meanwhile.
    await link();
    clock.advance(30_000);
    await showFactor(relinked, org, again, { code: app.code(clock()) });
    assert.equal(await isSignedIn(relinked), false);
    const third = await waits(good);
    clock.advance(30_000);
    await showFactor(good, org, third, { code: app.code(clock()) });
    assert.equal(await isSignedIn(good), true);
  });

  test("of two ends at once the second waits, and finds nothing left", async () => {
    const userId = await person("twice");
    const { database } = running.service;
    const act = { orgId: orgId(), actor: "test" };
    const [started, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const browser = testBrowser();
    await signIn(browser, "twice");
    const from = { orgId: orgId(), connectionId: connection.id, userId };
    const end = () =>
      database.transaction(async (tx) => {
        const ended = await endUpstreamSessions(tx, from, { act, reason: "connection_ended", now: clock() });
        started.resolve();
        await goOn.promise;
        return ended;
      });
    const first = end();
    await started.promise;
    const second = end();
    goOn.resolve();
    assert.deepEqual([await first, await second].sort(), [0, 1]);
    assert.equal(await isSignedIn(browser), false);
  });
});
