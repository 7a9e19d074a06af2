import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { withUser } from "../../testing/fixtures/visit.ts";
import { dumpTable } from "../../testing/probes/dump-database.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { assignUser, unassignUser } from "../application-access/application-access.ts";
import { setApplicationStatus } from "../applications/applications.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { removeExpired } from "../housekeeping/housekeeping.ts";
import { setOrganisationStatus } from "../organisations/organisations.ts";
import { signOutEverywhere } from "../sessions/end-sessions.ts";
import { signIn, signOut } from "../sessions/sessions.ts";
import { findUser } from "../users/users.store.ts";
import { setPassword, setUserStatus } from "../users/users.ts";
import type { SessionKeyKind } from "./session-key.ts";
import {
  convertSessionKey,
  type IssuedSessionKey,
  issueSessionKey,
  listServiceSessions,
  revokeSessionKey,
  type ValidSessionKey,
  validateSessionKey,
} from "./session-keys.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let people = 0;
  let acme: TestOrganisation;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    acme = await makeOrganisation(running.service);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const db = () => running.service.database.query;
  const validate = (secret: string) => validateSessionKey(running.service, secret);
  async function valid(secret: string): Promise<ValidSessionKey> {
    const result = await validate(secret);
    if (typeof result === "string") throw new Error(result);
    return result;
  }

  /** Signed in with a browser session, at an application of their own. */
  async function signedIn(org = acme, access: "everyone" | "assigned" = "everyone") {
    const own = await withUser(running.service, org, `p${people++}@acme.example`);
    const { application } = await makeClient(running.service, org.organisation, {
      access,
      allowPermanentKeys: true,
    });
    const assigned = { orgId: org.organisation.id, applicationId: application.id, userId: own.user.id };
    if (access === "assigned") await assignUser(running.service, { ...assigned, actor: "test" });
    const user = await findUser(db(), org.organisation.id, own.user.id);
    if (!user) throw new Error("no user");
    const { session } = await signIn(running.service, {
      organisation: org.organisation,
      user,
      amr: ["pwd"],
      acr: "urn:signet:acr:pwd",
      address: "192.0.2.1",
      userAgent: "",
      before: undefined,
    });
    const issue = (more: { sessionId?: string | null; authTime?: number } = {}): Promise<IssuedSessionKey> =>
      running.service.database.transaction((tx) =>
        issueSessionKey(tx, {
          orgId: org.organisation.id,
          applicationId: application.id,
          userId: user.id,
          sessionId: session.id,
          authTime: session.authTime,
          amr: session.amr,
          acr: session.acr,
          address: "192.0.2.1",
          now: clock(),
          ...more,
        }),
      );
    return { org, user, session, application, issue };
  }

  async function convert(secret: string, kind: "UserTemp" | "UserPerm"): Promise<string> {
    const converted = await convertSessionKey(running.service, await valid(secret), kind, {
      address: "192.0.2.7",
    });
    if (!converted) throw new Error("not converted");
    return converted.secret;
  }

  test("creates a key of 256 random bits and stores its hash only", async () => {
    const { issue, user, application } = await signedIn();
    const { secret, key } = await issue();
    assert.match(secret, /^sgn_sk_[A-Za-z0-9_-]{43}$/);
    const dump = (await dumpTable(db(), "session_key")).join();
    assert.ok(dump.includes(sha256Base64url(secret)));
    assert.ok(!dump.includes(secret.slice("sgn_sk_".length)));
    const found = await valid(secret);
    assert.deepEqual(
      [found.user.id, found.application.id, found.key.kind],
      [user.id, application.id, "Service"],
    );
    const [event] = await listAuditEvents(db(), acme.organisation.id, 1);
    assert.deepEqual(
      [event?.action, event?.target, event?.actor],
      ["session-key.issued", key.id, `user:${user.id}`],
    );
  });

  test("rejects a malformed or unknown session key", async () => {
    const { issue } = await signedIn();
    const { secret } = await issue();
    for (const other of [
      "",
      "x",
      secret.slice(0, -1),
      `${secret}A`,
      secret.replace("_sk_", "_rt_"),
      `${secret}\0`,
    ])
      assert.equal(await validate(other), "unknown key");
    assert.equal(await validate(`sgn_sk_${"A".repeat(43)}`), "unknown key");
  });

  test("requires the first use of a Service key within five minutes, then keeps it as long as the session", async () => {
    const { issue, session } = await signedIn();
    const late = await issue();
    const used = await issue();
    clock.advance(5 * MINUTE - 1);
    assert.equal((await valid(used.secret)).key.expiresAt, session.authTime + 12 * HOUR);
    clock.advance(1);
    assert.equal(await validate(late.secret), "expired key");
    for (let at = 5 * MINUTE; at < 12 * HOUR - 50 * MINUTE; at += 50 * MINUTE) {
      await valid(used.secret);
      clock.advance(50 * MINUTE);
    }
    await valid(used.secret);
    clock.advance(50 * MINUTE);
    assert.equal(await validate(used.secret), "expired key");
  });

  test("expires a Service key after an idle hour", async () => {
    const { issue } = await signedIn();
    const { secret } = await issue();
    await valid(secret);
    clock.advance(59 * MINUTE);
    await valid(secret);
    clock.advance(HOUR);
    assert.equal(await validate(secret), "idle key");
  });

  test("expires a temporary key after fifteen minutes or with the session", async () => {
    const { issue } = await signedIn();
    const { secret } = await issue();
    const temporary = await convert(secret, "UserTemp");
    assert.equal((await valid(temporary)).key.kind, "UserTemp");
    clock.advance(15 * MINUTE - 1);
    await valid(temporary);
    clock.advance(1);
    assert.equal(await validate(temporary), "expired key");
    await valid(secret);
    const old = await issue({ authTime: clock() - 12 * HOUR + 2 * MINUTE });
    const short = await convert(old.secret, "UserTemp");
    clock.advance(2 * MINUTE);
    assert.equal(await validate(short), "expired key");
  });

  test("keeps a permanent key beyond its session until it is revoked", async () => {
    const { issue, user, session } = await signedIn();
    const permanent = await convert((await issue()).secret, "UserPerm");
    clock.advance(400 * 24 * HOUR);
    assert.equal((await valid(permanent)).key.expiresAt, null);
    await signOut(running.service, { session, user }, "192.0.2.1");
    const { key } = await valid(permanent);
    const act = { reason: "test", actor: "test", now: clock() };
    assert.equal(await revokeSessionKey(db(), key, act), true);
    assert.equal(await validate(permanent), "revoked key");
    assert.equal(await revokeSessionKey(db(), key, act), false);
  });

  test("converts a key to a new one and leaves the old one unchanged", async () => {
    const { issue } = await signedIn();
    const { secret, key } = await issue();
    const converted = await valid(await convert(secret, "UserTemp"));
    assert.notEqual(converted.key.id, key.id);
    assert.equal(converted.key.authTime, key.authTime);
    assert.equal((await valid(secret)).key.kind, "Service");
  });

  type Who = Awaited<ReturnType<typeof signedIn>>;
  const everyKind: readonly SessionKeyKind[] = ["Service", "UserTemp", "UserPerm"];
  const ends: Record<string, { end(who: Who): Promise<unknown>; of: readonly SessionKeyKind[] }> = {
    "signing out": {
      end: ({ session, user }) => signOut(running.service, { session, user }, "192.0.2.1"),
      of: ["Service", "UserTemp"],
    },
    "signing out everywhere": {
      end: ({ org, user }) =>
        signOutEverywhere(running.service, { orgId: org.organisation.id, userId: user.id, actor: "test" }),
      of: everyKind,
    },
    "a new password": {
      end: ({ org: { organisation }, user }) =>
        setPassword(running.service, {
          organisation,
          id: user.id,
          password: "another good passphrase",
          about: [],
          actor: "test",
        }),
      of: everyKind,
    },
    "disabling the user": {
      end: ({ org, user }) =>
        setUserStatus(running.service, {
          orgId: org.organisation.id,
          id: user.id,
          disabled: true,
          actor: "test",
        }),
      of: everyKind,
    },
    "disabling the application, also when it is enabled again": {
      end: async ({ org, application }) => {
        const key = { orgId: org.organisation.id, id: application.id, actor: "test" };
        await setApplicationStatus(running.service, { ...key, disabled: true });
        await setApplicationStatus(running.service, { ...key, disabled: false });
      },
      of: everyKind,
    },
    "disabling the organisation": {
      end: ({ org }) =>
        setOrganisationStatus(running.service, { orgId: org.organisation.id, disabled: true, actor: "test" }),
      of: everyKind,
    },
    "taking the user off an application of assigned users": {
      end: async ({ org, application, user }) => {
        const of = { orgId: org.organisation.id, applicationId: application.id, userId: user.id };
        await unassignUser(running.service, { ...of, actor: "test" });
        await assignUser(running.service, { ...of, actor: "test" });
      },
      of: everyKind,
    },
  };
  for (const [way, { end, of }] of Object.entries(ends)) {
    test(`revokes keys immediately on ${way}: ${of.join(", ")}`, async () => {
      const who = await signedIn(await makeOrganisation(running.service, `Org${people}`), "assigned");
      const { secret } = await who.issue();
      const keys = {
        Service: secret,
        UserTemp: await convert(secret, "UserTemp"),
        UserPerm: await convert(secret, "UserPerm"),
      };
      for (const kind of everyKind) await valid(keys[kind]);
      await end(who);
      for (const kind of everyKind)
        assert.equal(typeof (await validate(keys[kind])) === "string", of.includes(kind), kind);
    });
  }

  test("rejects a key of an ended session, also one created just after the end", async () => {
    const { issue, session, user } = await signedIn();
    await signOut(running.service, { session, user }, "192.0.2.1");
    assert.equal(await validate((await issue()).secret), "browser session ended");
  });

  test("leaves no key active when conversions race with a revocation", async () => {
    for (let round = 0; round < 5; round++) {
      const { issue, org, user } = await signedIn();
      const { secret } = await issue();
      const shown = await valid(secret);
      const [, ...converted] = await Promise.all([
        signOutEverywhere(running.service, { orgId: org.organisation.id, userId: user.id, actor: "test" }),
        ...Array.from({ length: 4 }, () =>
          convertSessionKey(running.service, shown, "UserPerm", { address: "192.0.2.1" }),
        ),
      ]);
      for (const one of converted) if (one) assert.equal(typeof (await validate(one.secret)), "string");
    }
  });

  test("lists a user's active keys by page, organisation and applications", async () => {
    const { issue, user, org, application } = await signedIn();
    const issued = [await issue(), await issue(), await issue()];
    const of = { orgId: org.organisation.id, userId: user.id };
    const first = await listServiceSessions(running.service, of, { limit: 2, after: undefined });
    assert.deepEqual(
      first.map(({ id }) => id),
      issued.map(({ key }) => key.id),
    );
    const next = await listServiceSessions(running.service, of, { limit: 2, after: first[1]?.id });
    assert.deepEqual(
      next.map(({ id }) => id),
      [issued[2]?.key.id],
    );
    const page = { limit: 10, after: undefined };
    const at = (applicationIds: string[]) =>
      listServiceSessions(running.service, { ...of, applicationIds }, page);
    assert.equal((await at([application.id])).length, 3);
    assert.equal((await at([])).length, 0);
    assert.equal((await at([acme.web.application.id])).length, 0);
    const other = await makeOrganisation(running.service, `Other${people}`);
    assert.equal(
      (await listServiceSessions(running.service, { ...of, orgId: other.organisation.id }, page)).length,
      0,
    );
    clock.advance(5 * MINUTE);
    assert.equal((await listServiceSessions(running.service, of, page)).length, 0, "never validated");
  });

  test("deletes expired keys after a day", async () => {
    const { issue } = await signedIn();
    const { key, secret } = await issue();
    const permanent = await valid(await convert(secret, "UserPerm"));
    await revokeSessionKey(db(), permanent.key, { reason: "test", actor: "test", now: clock() });
    clock.advance(13 * HOUR);
    await removeExpired(running.service);
    const rows = () =>
      db().selectFrom("session_key").select("id").where("id", "in", [key.id, permanent.key.id]).execute();
    assert.equal((await rows()).length, 2);
    clock.advance(25 * HOUR);
    await removeExpired(running.service);
    assert.equal((await rows()).length, 0);
  });
});
