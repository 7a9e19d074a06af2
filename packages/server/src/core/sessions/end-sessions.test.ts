import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  type CodeSource,
  codeSource,
  type IssuedTokens,
  redeemWith,
} from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { refresh } from "../../testing/fixtures/client.ts";
import { sessionCookie, withUser } from "../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { setPassword, setUserStatus } from "../users/users.ts";
import { endSessions, endUserSession, listUserSessions, signOutEverywhere } from "./end-sessions.ts";
import type { SignedIn } from "./session.ts";
import { findCurrentSession, signIn, signOut } from "./sessions.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let users = 0;
  /** Tells that it wants to hear of a session's end. */
  let told: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    const settings = { redirectUris: [REDIRECT_URI], backchannelLogoutUri: "https://app.example/logout" };
    told = await makeClient(running.service, org.organisation, settings);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const orgId = () => org.organisation.id;
  const db = () => running.service.database.query;
  const deliveries = (sessionId: string) =>
    db().selectFrom("logout_delivery").selectAll().where("session_id", "=", sessionId).execute();

  /** A new user, signed in in a browser, whose session gave tokens to both applications. */
  async function signedIn() {
    const own = await withUser(running.service, org, `person-${users++}@acme.example`);
    const source = codeSource(own);
    const forTold = await source.tokens({}, told);
    const forWeb = await source.tokens();
    return { own, source, forTold, forWeb, who: await whoIs(own, source) };
  }
  async function whoIs(own: TestOrganisation, source: CodeSource): Promise<SignedIn> {
    const [, cookie] = sessionCookie(source.browser, own) ?? [];
    const found = await findCurrentSession(running.service, org.organisation, cookie);
    if (!found) throw new Error("not signed in");
    return found;
  }
  const refreshes = async (own: TestOrganisation, { refreshToken }: IssuedTokens, client: TestClient) =>
    (await refresh(own, refreshToken, {}, client)).status === 200;

  const ways: Record<string, (who: SignedIn) => Promise<unknown>> = {
    "signing out": (who) => signOut(running.service, who, "192.0.2.1"),
    "another user signing in in the same browser": async (who) => {
      const other = await signedIn();
      return signIn(running.service, {
        organisation: org.organisation,
        user: other.who.user,
        amr: ["pwd"],
        acr: "urn:signet:acr:pwd",
        address: "192.0.2.1",
        userAgent: "",
        before: who,
      });
    },
    "ending it from another browser": ({ session, user }) =>
      endUserSession(running.service, {
        orgId: orgId(),
        userId: user.id,
        sessionId: session.id,
        actor: "test",
      }),
    "signing out everywhere": ({ user }) =>
      signOutEverywhere(running.service, { orgId: orgId(), userId: user.id, actor: "test" }),
    "disabling the user": ({ user }) =>
      setUserStatus(running.service, { orgId: orgId(), id: user.id, disabled: true, actor: "test" }),
    "a new password": ({ user }) =>
      setPassword(running.service, {
        organisation: org.organisation,
        id: user.id,
        password: "another good passphrase",
        about: [],
        actor: "test",
      }),
  };
  for (const [way, end] of Object.entries(ways)) {
    test(`${way} ends the session and its tokens, and queues a logout token for each application that receives them`, async () => {
      const { own, source, forTold, forWeb, who } = await signedIn();
      await end(who);
      const [, cookie] = sessionCookie(source.browser, own) ?? [];
      assert.equal(await findCurrentSession(running.service, org.organisation, cookie), undefined);
      assert.ok(!(await refreshes(own, forTold, told)));
      assert.ok(!(await refreshes(own, forWeb, org.web)));
      const queued = await deliveries(who.session.id);
      assert.deepEqual(
        queued.map(({ application_id, user_id, attempts, next_attempt_at }) => ({
          application_id,
          user_id,
          attempts,
          next_attempt_at,
        })),
        [
          {
            application_id: told.application.id,
            user_id: own.user.id,
            attempts: 0,
            next_attempt_at: clock(),
          },
        ],
      );
      const again = await findCurrentSession(running.service, org.organisation, cookie);
      assert.equal(again, undefined);
    });
  }

  test("a failure in the transaction rolls back the end and its logout tokens", async () => {
    const { own, source, forTold, who } = await signedIn();
    const failing = running.service.database.transaction(async (tx) => {
      const { orgId, id: sessionId } = who.session;
      await endSessions(tx, { orgId, userId: who.user.id, sessionId, reason: "signed_out", now: clock() });
      throw new Error("no");
    });
    await assert.rejects(failing, /no/);
    assert.ok(await whoIs(own, source));
    assert.deepEqual(await deliveries(who.session.id), []);
    assert.ok(await refreshes(own, forTold, told));
  });

  test("ending a session again queues no more logout tokens", async () => {
    const { who } = await signedIn();
    await signOut(running.service, who, "192.0.2.1");
    await signOut(running.service, who, "192.0.2.1");
    await signOutEverywhere(running.service, { orgId: orgId(), userId: who.user.id, actor: "test" });
    assert.equal((await deliveries(who.session.id)).length, 1);
    const events = await listAuditEvents(db(), orgId(), 10);
    const ends = events.filter(
      ({ action, target }) => action === "session.ended" && target === who.session.id,
    );
    assert.equal(ends.length, 1);
  });

  test("an application is notified only after it has redeemed its code", async () => {
    const own = await withUser(running.service, org, `person-${users++}@acme.example`);
    const source = codeSource(own);
    const grant = await source.code({}, told);
    const first = await whoIs(own, source);
    await signOut(running.service, first, "192.0.2.1");
    assert.deepEqual(await deliveries(first.session.id), []);
    assert.equal((await redeemWith(own, grant, {}, told)).status, 400, "the code ends with its session");
  });

  test("a sign-out keeps offline_access tokens; signing out everywhere revokes them", async () => {
    const own = await withUser(running.service, org, `person-${users++}@acme.example`);
    const source = codeSource(own);
    const offline = await source.tokens({ scope: "openid offline_access" });
    await signOut(running.service, await whoIs(own, source), "192.0.2.1");
    const renewed = await refresh(own, offline.refreshToken);
    assert.equal(renewed.status, 200);
    await signOutEverywhere(running.service, { orgId: orgId(), userId: own.user.id, actor: "test" });
    assert.equal((await refresh(own, String(renewed.body["refresh_token"]))).status, 400);
  });

  test("a user can't end another user's session, or one of another organisation", async () => {
    const [mine, theirs] = [await signedIn(), await signedIn()];
    const act = { orgId: orgId(), userId: mine.own.user.id, actor: "test" };
    assert.equal(await endUserSession(running.service, { ...act, sessionId: theirs.who.session.id }), false);
    const other = await makeOrganisation(running.service, "Other");
    const there = { ...act, orgId: other.organisation.id, sessionId: mine.who.session.id };
    assert.equal(await endUserSession(running.service, there), false);
    await signOutEverywhere(running.service, act);
    assert.ok(await whoIs(theirs.own, theirs.source));
    assert.ok(await refreshes(theirs.own, theirs.forTold, told));
    assert.deepEqual(await deliveries(theirs.who.session.id), []);
  });

  test("lists the user's active sessions, last used first, with their applications", async () => {
    const { own, who } = await signedIn();
    const list = () => listUserSessions(running.service, org.organisation, own.user.id);
    clock.advance(60_000);
    const second = codeSource(own);
    await second.code();
    const ids = [(await whoIs(own, second)).session.id, who.session.id];
    const found = await list();
    assert.deepEqual(
      found.map(({ id }) => id),
      ids,
    );
    assert.deepEqual(
      found.map(({ applications }) => applications.length),
      [0, 2],
    );
    assert.equal(found[1]?.address, "127.0.0.1");
    await endUserSession(running.service, {
      orgId: orgId(),
      userId: own.user.id,
      sessionId: ids[0] ?? "",
      actor: "x",
    });
    assert.deepEqual(
      (await list()).map(({ id }) => id),
      [who.session.id],
    );
    clock.advance(org.organisation.settings.sessionIdleSeconds * 1000);
    assert.deepEqual(await list(), []);
  });
});
