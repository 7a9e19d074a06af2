// A connection that many people sign in by ends in as few statements as their number allows: PostgreSQL ends long transactions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deleteConnection } from "../../../core/connections/delete-connection.ts";
import { insertIdentity } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { createUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../testing/fakes/hostile-provider.ts";
import { copyRows, idOf } from "../../../testing/fixtures/copied-rows.ts";
import { federate, keyOf, makeFederatedApp } from "../../../testing/fixtures/federation.ts";
import { connectTo, signInUpstream } from "../../../testing/fixtures/upstream-sign-in.ts";
import { showsConsent, tokensOf } from "../../../testing/fixtures/visit.ts";
import { countStatements } from "../../../testing/probes/counted-statements.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const KINDS = { user: 1, session: 2, family: 3, key: 4 };
const FEW = 10;
const MANY = 1_200;

forEachDatabase(({ fresh }) => {
  const statements = countStatements();
  const clock = fakeClock();
  let running: TestService;
  let org: TestOrganisation;
  let there: HostileProvider;
  before(async () => {
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env, around: statements.dialect });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
  });
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const db = () => running.service.database.query;
  /** How many rows of the organisation have not ended. */
  const living = async (): Promise<number[]> => {
    const orgId = org.organisation.id;
    const count = async (table: "browser_session" | "token_family" | "session_key") => {
      const end = table === "browser_session" ? "ended_at" : "revoked_at";
      const rows = await db()
        .selectFrom(table)
        .select("id")
        .where("org_id", "=", orgId)
        .where(end as never, "is", null)
        .execute();
      return rows.length;
    };
    return [await count("browser_session"), await count("token_family"), await count("session_key")];
  };

  /** A connection by which one person has signed in, and so many copies of them. */
  const signedInBy = async (name: string, from: number, count: number) => {
    const { service } = running;
    const orgId = org.organisation.id;
    const connection = await connectTo(running, org, there, name, { emailTrust: "verifiedClaim" });
    const userId = await createUser(service, {
      ...{ organisation: org.organisation, email: `${name}@there.example`, password: org.user.password },
      ...{ emailVerified: true, firstname: "Uma", surname: "Berg", role: "Standard", actor: "test" },
    });
    const times = { createdAt: clock(), lastSignInAt: clock() };
    await insertIdentity(db(), { orgId, connectionId: connection.id, subject: name, userId, ...times });
    there.claims = { sub: name };
    there.userinfo = { sub: name };
    const browser = testBrowser();
    assert.ok(showsConsent(await signInUpstream({ running, org, there, connection, browser })));
    await tokensOf(browser, org, { scope: "openid offline_access" });
    const portal = await makeFederatedApp(service, org);
    assert.ok(keyOf(await federate(browser, running, portal)));
    const user = idOf(db(), KINDS.user);
    const session = idOf(db(), KINDS.session);
    const copies = { from, count };
    const unique = (text: string) => `('${text}-' || n.i)`;
    const ofUser = `org_id = '${orgId}' and user_id = '${userId}'`;
    await copyRows(db(), {
      ...{ ...copies, table: "user_account", where: `org_id = '${orgId}' and id = '${userId}'` },
      changed: { id: user, email: unique("u"), email_key: unique("u") },
    });
    for (const [table, changed] of Object.entries({
      membership: {},
      upstream_sign_in: {},
      browser_session: { id: session, token_hash: unique("s") },
      token_family: { id: idOf(db(), KINDS.family), session_id: session, consent_id: "null" },
      session_key: { id: idOf(db(), KINDS.key), session_id: session, key_hash: unique("k") },
    }))
      await copyRows(db(), { ...copies, table, where: ofUser, changed: { user_id: user, ...changed } });
    return connection;
  };

  test("its sessions, refresh tokens and session keys end, with as many statements for a hundred times as many people", async () => {
    const before = await living();
    const ended: number[] = [];
    for (const [name, from, count] of [
      ["few", 0, FEW],
      ["many", 10_000, MANY],
    ] as const) {
      const { id } = await signedInBy(name, from, count);
      const [sessions = 0, families = 0, keys = 0] = await living();
      assert.ok(sessions > count && families > count && keys > count);
      statements.take();
      const act = { orgId: org.organisation.id, actor: "test" };
      assert.equal(await deleteConnection(running.service, { ...act, id }), true);
      ended.push(statements.take().length);
      assert.deepEqual(await living(), before);
      const events = await db()
        .selectFrom("audit_event")
        .select("id")
        .where("org_id", "=", org.organisation.id)
        .where("action", "=", "user.session-ended")
        .execute();
      assert.equal(events.length, (name === "few" ? 0 : FEW + 1) + count + 1);
    }
    const [few = 0, many = 0] = ended;
    assert.ok(many < few + 40, `${few} statements for ${FEW}, ${many} for ${MANY}`);
  });
});
