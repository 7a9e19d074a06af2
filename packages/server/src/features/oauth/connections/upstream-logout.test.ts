// Logout both ways: who signs out here does so at the provider, and who signs out there has no session here. New keys are told.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { SignJWT } from "jose";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import type { Connection } from "../../../core/connections/connection.ts";
import { insertIdentity } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { changeSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { removeExpired } from "../../../core/housekeeping/housekeeping.ts";
import { createUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import {
  type HostileProvider,
  signed,
  startHostileProvider,
} from "../../../testing/fakes/hostile-provider.ts";
import { type Answer, postForm, refresh } from "../../../testing/fixtures/client.ts";
import { connectTo, signInUpstream } from "../../../testing/fixtures/upstream-sign-in.ts";
import { follow, showsConsent, showsLogin, tokensOf, visit } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const BYE = "https://app.example/bye";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let there: HostileProvider;
  let connection: Connection;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    there.metadata = { end_session_endpoint: `${there.issuer}/logout?from=signet` };
    connection = await connectTo(running, org, there, "There", { emailTrust: "verifiedClaim" });
  });
  afterEach(() => {
    const { metadata } = there;
    there.reset();
    there.metadata = metadata;
  });
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const orgId = () => org.organisation.id;
  const person = async (sub: string, of = connection) => {
    const userId = await createUser(running.service, {
      ...{ organisation: org.organisation, email: `${sub}@there.example`, password: org.user.password },
      ...{ emailVerified: true, firstname: "Uma", surname: "Berg", role: "Standard", actor: "test" },
    });
    const times = { createdAt: clock(), lastSignInAt: clock() };
    const identity = { orgId: orgId(), connectionId: of.id, subject: sub, userId, ...times };
    await insertIdentity(running.service.database.query, identity);
  };
  const signIn = async (sub: string, claims: Record<string, unknown> = {}, of = connection) => {
    const browser = testBrowser();
    there.claims = { sub, ...claims };
    there.userinfo = { sub };
    const page = await signInUpstream({ running, org, there, connection: of, browser });
    assert.ok(showsConsent(page) || page.location !== undefined, page.body);
    return browser;
  };
  const isSignedIn = async (browser: TestBrowser) => !showsLogin(await visit(browser, org));
  const address = ({ id }: Connection = connection) =>
    `${running.baseUrl}/oauth/${orgId()}/connections/${id}`;
  const claims = (more: Record<string, unknown> = {}) => {
    const iat = Math.floor(clock() / 1000);
    const said = { iss: there.issuer, aud: "signet", iat, exp: iat + 120, jti: randomUUID() };
    const all = { ...said, events: { [EVENT]: {} }, ...more };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  };
  const tell = (token: string, to = connection): Promise<Answer> =>
    postForm(`${address(to)}/backchannel-logout`, { logout_token: token });
  const logout = async (more: Record<string, unknown>, to = connection) =>
    tell(await signed(claims(more), there.key), to);

  test("a logout of a session there ends what came from it here, offline refresh tokens too, and no other session", async () => {
    await person("sid");
    const [one, two] = [await signIn("sid", { sid: "s-1" }), await signIn("sid", { sid: "s-2" })];
    const tokens = await tokensOf(one, org, { scope: "openid offline_access" });
    const others = await tokensOf(two, org, { scope: "openid offline_access" });
    const { status, headers } = await logout({ sid: "s-1" });
    assert.deepEqual([status, headers.get("cache-control")], [200, "no-store"]);
    assert.deepEqual([await isSignedIn(one), await isSignedIn(two)], [false, true]);
    assert.equal((await refresh(org, tokens.refreshToken)).status, 400);
    assert.equal((await refresh(org, others.refreshToken)).status, 200);
    const events = await listAuditEvents(running.service.database.query, orgId(), 20);
    const told = events.find(({ action }) => action === "user.session-ended");
    assert.equal(told?.actor, `connection:${connection.id}`);
    assert.equal((await logout({ sid: "s-1" })).status, 200, "again, by another token: nothing is left");
  });

  test("a logout of a subject ends all of it, and with a session only where both are right", async () => {
    await person("sub");
    const browsers = [await signIn("sub", { sid: "a" }), await signIn("sub")];
    assert.equal((await logout({ sub: "nobody" })).status, 200);
    assert.equal((await logout({ sub: "nobody", sid: "a" })).status, 200);
    for (const browser of browsers) assert.equal(await isSignedIn(browser), true);
    assert.equal((await logout({ sub: "sub" })).status, 200);
    for (const browser of browsers) assert.equal(await isSignedIn(browser), false);
  });

  test("a logout token that is not right in every part ends nothing, and one is used once", async () => {
    await person("kept");
    const browser = await signIn("kept", { sid: "kept" });
    const seconds = Math.floor(clock() / 1000);
    const wrong: ReadonlyArray<Record<string, unknown>> = [
      { iss: "https://other.example" },
      { iss: `${there.issuer}/` },
      { aud: "another" },
      { aud: undefined },
      { iat: undefined },
      { iat: seconds + 61 },
      { iat: seconds - 601, exp: undefined },
      { exp: seconds - 60 },
      { jti: undefined },
      { jti: "" },
      { events: undefined },
      { events: { [EVENT]: "yes" } },
      { events: { "http://schemas.openid.net/event/other": {} } },
      { nonce: "n" },
      { sid: undefined },
      { sid: 7 },
      { sub: ["kept"] },
    ];
    for (const more of wrong) {
      const { status, body } = await logout({ sid: "kept", ...more });
      assert.deepEqual([status, body["error"]], [400, "invalid_request"], JSON.stringify(more));
    }
    const right = claims({ sid: "kept" });
    const sign = (header: object) =>
      new SignJWT(right).setProtectedHeader(header as never).sign(there.key.privateKey);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const stranger = await startHostileProvider(clock);
    try {
      for (const token of [
        await sign({ alg: "ES256", kid: there.key.kid, typ: "at+jwt" }),
        await signed(right, { ...stranger.key, kid: there.key.kid }),
        `${part({ alg: "none" })}.${part(right)}.`,
        "x",
        `${part({ alg: "ES256" })}.x.y`,
      ])
        assert.equal((await tell(token)).status, 400);
    } finally {
      await stranger.close();
    }
    assert.equal((await postForm(`${address()}/backchannel-logout`, {})).status, 400);
    assert.equal(await isSignedIn(browser), true);
    const token = await sign({ alg: "ES256", kid: there.key.kid, typ: "logout+jwt" });
    const answers = await Promise.all([tell(token), tell(token), tell(token)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400]);
    assert.equal(await isSignedIn(browser), false);
  });

  test("a token of one connection ends nothing of another, nor of another organisation", async () => {
    const twin = await connectTo(running, org, there, "Twin");
    await person("twin", twin);
    const browser = await signIn("twin", { sid: "twin" }, twin);
    assert.equal((await logout({ sid: "twin" })).status, 200);
    assert.equal(await isSignedIn(browser), true);
    const other = await makeOrganisation(running.service, "Other");
    const foreign = `${running.baseUrl}/oauth/${other.organisation.id}/connections/${twin.id}/backchannel-logout`;
    const token = await signed(claims({ sid: "twin" }), there.key);
    assert.equal((await postForm(foreign, { logout_token: token })).status, 404);
    assert.equal(
      (await postForm(`${address().slice(0, -36)}${randomUUID()}/backchannel-logout`, {})).status,
      404,
    );
    await changeSignInConnection(running.service, {
      ...{ orgId: orgId(), actor: "test", id: twin.id },
      ask: ({ kind, name, settings }) => ({
        ...{ kind, name, enabled: false, clientSecret: undefined, settings },
      }),
    });
    assert.equal((await logout({ sid: "twin" }, twin)).status, 200, "disabled, too");
    assert.equal(await isSignedIn(browser), false);
  });

  test("who signs out here is sent to the provider, and comes back to where the sign-out leads", async () => {
    await person("leaves");
    const browser = await signIn("leaves");
    const { idToken } = await tokensOf(browser, org);
    const asked = { id_token_hint: idToken, post_logout_redirect_uri: BYE, state: "s 1" };
    const sent = await browser.get(`${org.issuer}/end_session?${new URLSearchParams(asked)}`);
    assert.equal(sent.status, 302);
    const upstream = new URL(sent.location ?? "");
    assert.equal(upstream.origin + upstream.pathname, `${there.issuer}/logout`);
    const said = upstream.searchParams;
    assert.deepEqual(
      [said.get("from"), said.get("client_id"), said.get("post_logout_redirect_uri")],
      ["signet", "signet", `${address()}/logged-out`],
    );
    assert.equal(
      JSON.parse(Buffer.from(said.get("id_token_hint")?.split(".")[1] ?? "", "base64url").toString()).sub,
      "leaves",
    );
    assert.equal(await isSignedIn(browser), false);
    const back = (state: string) => browser.get(`${address()}/logged-out?${new URLSearchParams({ state })}`);
    const state = said.get("state") ?? "";
    assert.equal((await back(state)).location, `${BYE}?state=s%201`);
    // In the middle: of the last character not every bit counts.
    const altered = await back(`${state.slice(0, 40)}${state[40] === "A" ? "B" : "A"}${state.slice(41)}`);
    assert.deepEqual([altered.status, altered.location], [200, undefined]);
    clock.advance(10 * 60_000);
    assert.equal((await back(state)).location, undefined);
  });

  test("a sign-out by the confirmation leads on from a page, and one that the provider cannot do is done here", async () => {
    await person("confirms");
    const browser = await signIn("confirms");
    const page = await browser.get(`${org.issuer}/end_session`);
    const done = await browser.post(`${org.issuer}/end_session`, page.hidden);
    assert.equal(done.status, 200);
    assert.match(done.headers.get("refresh") ?? "", new RegExp(`^0;url=${there.issuer}/logout\\?`));
    assert.match(done.body, /id="to-connection"/);
    const without = await connectTo(running, org, there, "Without", { upstreamLogout: false });
    await person("without", without);
    const own = await signIn("without", {}, without);
    const { idToken } = await tokensOf(own, org);
    const asked = { id_token_hint: idToken, post_logout_redirect_uri: BYE };
    const left = await own.get(`${org.issuer}/end_session?${new URLSearchParams(asked)}`);
    assert.equal(left.location, BYE);
    assert.equal((await logout({ sub: "without" }, without)).status, 404);
  });

  test("the ID token goes with the sign-out, or when the session must have ended; one that is long is not kept", async () => {
    await person("hint");
    const kept = () =>
      running.service.database.query
        .selectFrom("upstream_sign_in")
        .select("id_token")
        .where("org_id", "=", orgId())
        .where("subject", "=", "hint")
        .where("id_token", "is not", null)
        .execute();
    const browser = await signIn("hint");
    assert.equal((await kept()).length, 1);
    const signOut = async (own: TestBrowser) => {
      const page = await own.get(`${org.issuer}/end_session`);
      return (await own.post(`${org.issuer}/end_session`, page.hidden)).headers.get("refresh") ?? "";
    };
    assert.match(await signOut(browser), /id_token_hint=/);
    assert.equal((await kept()).length, 0, "signed out");
    await signIn("hint");
    await removeExpired(running.service);
    assert.equal((await kept()).length, 1);
    clock.advance(org.organisation.settings.sessionLifetimeSeconds * 1000);
    await removeExpired(running.service);
    assert.equal((await kept()).length, 0, "expired");
    const long = await signIn("hint", { padding: "x".repeat(4_000) });
    assert.equal((await kept()).length, 0, "too long");
    const left = await signOut(long);
    assert.match(left, /client_id=signet/);
    assert.doesNotMatch(left, /id_token_hint=/);
  });

  test("forged logouts make the provider asked once, however many there are and whether or not it answers", async () => {
    const asked = await startHostileProvider(clock);
    try {
      const own = await connectTo(running, org, asked, "Asked", { emailTrust: "verifiedClaim" });
      const forge = async () => {
        const key = { ...there.key, kid: randomUUID() };
        return tell(await signed(claims({ iss: asked.issuer, sub: "a" }), key), own);
      };
      const count = (path: string) => asked.asked.filter((one) => one === path).length;
      const many = async () => {
        for (const { status } of await Promise.all(Array.from({ length: 8 }, forge)))
          assert.equal(status, 400);
      };
      await many();
      assert.deepEqual([count("/.well-known/openid-configuration"), count("/jwks")], [1, 1]);
      asked.answers.set("/jwks", { status: 500, body: {} });
      clock.advance(30_000);
      await many();
      await many();
      assert.equal(count("/jwks"), 2);
      asked.answers.clear();
      clock.advance(30_000);
      asked.rotate();
      const token = await signed(claims({ iss: asked.issuer, sub: "a" }), asked.key);
      assert.equal((await tell(token, own)).status, 200);
    } finally {
      await asked.close();
    }
  });

  test("new keys of the provider are taken once in thirty seconds, and told to the administrators", async () => {
    await person("keys");
    const rotating = await startHostileProvider(clock);
    try {
      const own = await connectTo(running, org, rotating, "Rotating", { emailTrust: "verifiedClaim" });
      const come = async () => {
        rotating.claims = { sub: "k", email: "k@there.example" };
        rotating.userinfo = { sub: "k" };
        return follow(
          testBrowser(),
          await signInUpstream({ running, org, there: rotating, connection: own }),
        );
      };
      const told = async () =>
        (await listAuditEvents(running.service.database.query, orgId(), 100)).filter(
          ({ action, target }) => action === "connection.keys-changed" && target === own.id,
        );
      assert.ok(showsConsent(await come()));
      assert.deepEqual(await told(), []);
      rotating.rotate();
      assert.equal((await come()).status, 400, "not yet");
      clock.advance(30_000);
      assert.ok(showsConsent(await come()));
      const all = await told();
      assert.deepEqual([all[0]?.actor, all.length], ["system", 1]);
      assert.equal((all[0]?.details as { added?: string[] } | undefined)?.added?.length, 1);
      assert.ok(showsConsent(await come()));
      assert.equal((await told()).length, 1);
    } finally {
      await rotating.close();
    }
  });
});
