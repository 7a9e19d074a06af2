import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { deleteExpired } from "../../db/delete-expired.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { withUser } from "../../testing/fixtures/visit.ts";
import { assertAudited } from "../../testing/probes/written-actions.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import type { User } from "../users/user.ts";
import { findUser } from "../users/users.store.ts";
import { setPassword, setUserStatus } from "../users/users.ts";
import type { SignedIn } from "./session.ts";
import { findCurrentSession, signIn, signOut } from "./sessions.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let uma: User;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords, clock });
    org = await makeOrganisation(running.service);
    uma = await userOf(org);
  });
  after(() => running.close());

  async function userOf({ organisation, user }: TestOrganisation): Promise<User> {
    const found = await findUser(running.service.database.query, organisation.id, user.id);
    if (!found) throw new Error("no such user");
    return found;
  }
  const start = (user = uma, before?: SignedIn) =>
    signIn(running.service, {
      organisation: org.organisation,
      user,
      amr: ["pwd"],
      acr: "urn:signet:acr:pwd",
      address: "192.0.2.1",
      userAgent: "x".repeat(1_000),
      before,
    });
  const find = (token: string, at = org) => findCurrentSession(running.service, at.organisation, token);
  const row = (id: string) =>
    running.service.database.query
      .selectFrom("browser_session")
      .selectAll()
      .where("org_id", "=", org.organisation.id)
      .where("id", "=", id)
      .executeTakeFirstOrThrow();

  test("a session is found by its token, and only the hash is stored", async () => {
    const { token, session } = await start();
    assert.match(token, /^sgn_bs_[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(await find(token), { session, user: uma });
    const kept = await row(session.id);
    assert.equal(kept.token_hash, sha256Base64url(token));
    assert.ok(!JSON.stringify(kept).includes(token.slice(7)));
    assert.equal(kept.user_agent.length, 300);
    for (const other of ["", "x", sha256Base64url(token), session.id, `${token}x`])
      assert.equal(await find(other), undefined, other);
    assert.equal(await findCurrentSession(running.service, org.organisation, undefined), undefined);
  });

  test("a session is not found at another organisation of the same user", async () => {
    const other = await makeOrganisation(running.service, "Other");
    const { token } = await start();
    assert.equal(await find(token, other), undefined);
    const membership = { org_id: other.organisation.id, user_id: uma.id, home_org_id: org.organisation.id };
    const row = { ...membership, role: "Standard", created_at: clock() };
    await running.service.database.query.insertInto("membership").values(row).execute();
    assert.equal(await find(token, other), undefined, "although its user is a member there too");
  });

  test("a session ends after two idle hours", async () => {
    const { token } = await start();
    for (let at = 0; at < 3; at++) {
      clock.advance(2 * HOUR - 1);
      assert.ok(await find(token), String(at));
    }
    clock.advance(2 * HOUR);
    assert.equal(await find(token), undefined);
  });

  test("a session ends after twelve hours despite activity", async () => {
    const { token, session } = await start();
    assert.equal(session.expiresAt, clock() + 12 * HOUR);
    for (let hour = 0; hour < 11; hour++) {
      clock.advance(HOUR);
      assert.ok(await find(token));
    }
    clock.advance(HOUR - 1);
    assert.ok(await find(token));
    clock.advance(1);
    assert.equal(await find(token), undefined);
  });

  test("the organisation's session lifetimes apply", async () => {
    const settings = { ...org.organisation.settings, sessionIdleSeconds: 60 };
    const strict = { ...org, organisation: { ...org.organisation, settings } };
    const { token } = await start();
    clock.advance(MINUTE - 1);
    assert.ok(await find(token, strict));
    clock.advance(MINUTE);
    assert.equal(await find(token, strict), undefined);
  });

  test("activity is recorded once a minute", async () => {
    const { token, session } = await start();
    clock.advance(MINUTE - 1);
    await find(token);
    assert.equal((await row(session.id)).last_seen_at, session.lastSeenAt);
    clock.advance(1);
    await find(token);
    assert.equal((await row(session.id)).last_seen_at, clock());
  });

  test("another sign-in continues the session with a new token and invalidates the old one", async () => {
    const first = await start();
    clock.advance(HOUR);
    const again = await start(uma, await find(first.token));
    assert.notEqual(again.token, first.token);
    assert.equal(again.session.id, first.session.id);
    assert.equal(again.session.authTime, first.session.authTime + HOUR);
    assert.equal(again.session.expiresAt, clock() + 12 * HOUR);
    assert.equal(await find(first.token), undefined);
    assert.deepEqual((await find(again.token))?.session, again.session);
  });

  test("another user's sign-in starts a new session and ends the previous one", async () => {
    const first = await start();
    const otto = await userOf(await withUser(running.service, org, "otto@acme.example"));
    const second = await start(otto, await find(first.token));
    assert.notEqual(second.session.id, first.session.id);
    assert.equal(await find(first.token), undefined);
    assert.equal((await find(second.token))?.user.id, otto.id);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 2);
    const ended = events.find(({ action }) => action === "session.ended");
    assert.deepEqual([ended?.target, ended?.actor], [first.session.id, `user:${uma.id}`]);
    const started = events.find(({ action }) => action === "session.started");
    assert.deepEqual([started?.target, started?.actor], [second.session.id, `user:${otto.id}`]);
  });

  test("a session that ended during another sign-in stays ended", async () => {
    const first = await start();
    const before = await find(first.token);
    if (!before) throw new Error("no session");
    await signOut(running.service, before, "192.0.2.1");
    const again = await start(uma, before);
    assert.notEqual(again.session.id, first.session.id);
    assert.notEqual((await row(first.session.id)).ended_at, null);
    assert.ok(await find(again.token));
  });

  test("a sign-out ends one session; the user's others stay", async () => {
    const [one, other] = [await start(), await start()];
    const here = await find(one.token);
    if (!here) throw new Error("no session");
    await signOut(running.service, here, "192.0.2.1");
    assert.equal(await find(one.token), undefined);
    assert.ok(await find(other.token));
  });

  test("disabling a user and changing the password end every session immediately", async () => {
    const eve = await withUser(running.service, org, "eve@acme.example");
    const her = await userOf(eve);
    const [one, two] = [await start(her), await start(her)];
    const changed = {
      organisation: org.organisation,
      id: her.id,
      password: "another long one",
      about: [],
      actor: "test",
    };
    await setPassword(running.service, changed);
    assert.equal(await find(one.token), undefined);
    assert.equal(await find(two.token), undefined);
    const third = await start(her);
    const key = { orgId: org.organisation.id, id: her.id, actor: "test" };
    await setUserStatus(running.service, { ...key, disabled: true });
    assert.equal(await find(third.token), undefined);
    const fourth = await start(her);
    assert.equal(await find(fourth.token), undefined, "nor does a session begun meanwhile open anything");
    await setUserStatus(running.service, { ...key, disabled: false });
    assert.equal(await find(third.token), undefined, "what was ended stays ended");
  });

  test("removing a membership ends its sessions", async () => {
    const guest = await withUser(running.service, org, "guest@acme.example");
    const { token } = await start(await userOf(guest));
    await running.service.database.query
      .deleteFrom("membership")
      .where("user_id", "=", guest.user.id)
      .execute();
    assert.equal(await find(token), undefined);
  });

  test("expired sessions are deleted in batches, active ones stay", async () => {
    const living = await start();
    const { query } = running.service.database;
    const count = async () => (await query.selectFrom("browser_session").select("id").execute()).length;
    const all = await count();
    assert.equal(await deleteExpired(query, "browser_session", clock() - 1, 2), 2);
    while ((await deleteExpired(query, "browser_session", clock() - 1, 2)) > 0);
    assert.ok((await count()) < all - 2);
    assert.ok(await find(living.token));
  });

  test("signing in again in another way is audited with the level before, and in the same way without", async () => {
    const { session } = await start();
    const stepped = async (acr: string, by = session) => {
      const before = { session: by, user: uma };
      const input = { organisation: org.organisation, user: uma, address: "192.0.2.1", userAgent: "x" };
      const again = await signIn(running.service, { ...input, amr: ["pwd"], acr, before });
      const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
      return { event, session: again.session };
    };
    const up = await stepped("urn:signet:acr:mfa");
    assert.equal(up.event?.action, "session.renewed");
    const levels = { acr: "urn:signet:acr:mfa", previousAcr: "urn:signet:acr:pwd" };
    assert.deepEqual(up.event?.details, { amr: ["pwd"], ...levels });
    const same = await stepped("urn:signet:acr:mfa", up.session);
    assert.deepEqual(same.event?.details, { amr: ["pwd"] });
  });

  test("every action is audited", () => assertAudited(running.service.database.query, "session.renewed"));
});
