/** What the overview says of an organisation: each thing that wants attention until it is over, and nothing of another one. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { createClientSecret } from "../../../core/applications/client-secrets.ts";
import { recordAgentSeen } from "../../../core/signing-pools/signing-agent.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { makePool } from "../../../testing/fixtures/agent.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { makeClient, startTestService, type TestService } from "../../../testing/test-service.ts";
import { needsAttention } from "./attention.ts";
import { countFigures } from "./overview.store.ts";

const DAY = 86_400_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: SeededRecords;
  let other: SeededRecords;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Beta");
    for (const { ids, organisation } of [org, other]) {
      const agent = { orgId: organisation.id, id: ids["agent"] ?? "" };
      await recordAgentSeen(db(), { ...agent, now: clock(), every: 0 });
    }
  });
  after(() => running.close());

  const db = () => running.service.database.query;
  const mine = () => org.organisation.id;
  const look = (orgId = mine(), now = clock(), deps = { keyRotationDays: 90, hasMail: true }) =>
    needsAttention(deps, db(), orgId, now);
  const kinds = async (...asked: Parameters<typeof look>) => (await look(...asked)).map(({ kind }) => kind);
  const figures = (now = clock()) => countFigures(db(), mine(), now);

  test("counts no ended records", async () => {
    const all = await figures();
    const sessions = await db()
      .selectFrom("browser_session")
      .select(["id", "expires_at"])
      .where("org_id", "=", mine())
      .where("ended_at", "is", null)
      .execute();
    assert.ok(sessions.length >= 2);
    assert.equal(all.sessions, sessions.length);
    assert.equal((await figures(Math.max(...sessions.map((one) => Number(one.expires_at))))).sessions, 0);
    const end = db().updateTable("browser_session").set({ ended_at: clock() });
    await end.where("id", "=", sessions[0]?.id ?? "").execute();
    await db().updateTable("device").set({ revoked_at: clock() }).where("org_id", "=", mine()).execute();
    assert.deepEqual(await figures(), { ...all, sessions: all.sessions - 1, devices: 0 });
  });

  test("warns about a pool without a live agent, unless it is disabled", async () => {
    assert.deepEqual(await look(), []);
    const { id } = await makePool(running.service, org, { name: "Empty" });
    assert.deepEqual(await look(), [{ kind: "pool-empty", poolId: id, poolName: "Empty" }]);
    await db().updateTable("signing_pool").set({ disabled_at: 1 }).where("id", "=", id).execute();
    assert.deepEqual(await kinds(), []);
    assert.deepEqual(await kinds(mine(), clock() + DAY), ["pool-away"]);
  });

  test("warns about client secrets from two weeks before expiry to one after, of enabled applications", async () => {
    const { application } = await makeClient(running.service, org.organisation, {
      redirectUris: ["https://a.example/"],
    });
    const { id: applicationId } = application;
    const secret = { orgId: mine(), applicationId, label: "Old", actor: "test" };
    const endsAt = clock() + 30 * DAY;
    const { secret: made } = await createClientSecret(running.service, { ...secret, expiresAt: endsAt });
    const at = async (now: number, orgId = mine()) =>
      (await kinds(orgId, now)).filter((kind) => kind.startsWith("secret"));
    assert.deepEqual(await at(endsAt - 14 * DAY - 1), []);
    assert.deepEqual(await at(endsAt - 14 * DAY), ["secret-ends"]);
    assert.deepEqual(await at(endsAt - 1), ["secret-ends"]);
    assert.deepEqual(await at(endsAt), ["secret-ended"]);
    assert.deepEqual(await at(endsAt + 7 * DAY - 1), ["secret-ended"]);
    assert.deepEqual(await at(endsAt + 7 * DAY), []);
    assert.deepEqual(await at(endsAt, other.organisation.id), []);
    const disable = { orgId: mine(), id: applicationId, actor: "test" };
    await setApplicationStatus(running.service, { ...disable, disabled: true });
    assert.deepEqual(await at(endsAt), []);
    await setApplicationStatus(running.service, { ...disable, disabled: false });
    assert.deepEqual(await at(endsAt), ["secret-ended"]);
    await db().updateTable("client_secret").set({ revoked_at: clock() }).where("id", "=", made.id).execute();
    assert.deepEqual(await at(endsAt), []);
  });

  test("warns about undelivered mails of two days, or only about the missing mail server", async () => {
    const mail = { recipient: "x@acme.example", template: "Welcome", locale: "en", data: "{}", attempts: 9 };
    const times = { next_attempt_at: 0, give_up_at: 0, created_at: 0, sent_at: null, last_error: null };
    const failed = (orgId: string, id: string, failedAt: number | null, more: Partial<typeof mail> = {}) =>
      db()
        .insertInto("outgoing_mail")
        .values({ org_id: orgId, id, ...mail, ...more, ...times, failed_at: failedAt })
        .execute();
    await failed(mine(), "one", clock());
    await failed(mine(), "old", clock() - 2 * DAY);
    await failed(mine(), "waits", null);
    await failed(other.organisation.id, "theirs", clock());
    // What was never an email, and what would disclose that another organisation has a user.
    await failed(mine(), "decoy", clock(), { recipient: "" });
    await failed(mine(), "roaming", clock(), { template: "AcceptRoaming" });
    assert.deepEqual(await look(), [{ kind: "mail-failed", count: 1 }]);
    assert.deepEqual(await kinds(mine(), clock(), { keyRotationDays: 90, hasMail: false }), ["mail-off"]);
    await db().deleteFrom("outgoing_mail").where("org_id", "=", mine()).execute();
    assert.deepEqual(await kinds(), []);
  });

  test("warns about a signing key that was not rotated in time, and about a device CA that expires", async () => {
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    assert.equal((await postForm(`${org.issuer}/token`, form)).status, 200);
    const [key] = await db()
      .selectFrom("signing_key")
      .select(["kid", "created_at"])
      .where("org_id", "=", mine())
      .execute();
    const madeAt = Number(key?.created_at);
    const at = async (now: number, keyRotationDays = 90) =>
      (await kinds(mine(), now, { keyRotationDays, hasMail: true })).filter((kind) => kind === "key-old")
        .length;
    assert.equal(await at(madeAt + 91 * DAY), 0);
    const many = await at(madeAt + 91 * DAY + 1);
    assert.ok(many > 0);
    assert.equal(await at(madeAt + 365 * DAY, 0), 0);
    assert.equal(await at(madeAt + 365 * DAY + 1, 0), many);
    await db()
      .updateTable("signing_key")
      .set({ retire_at: 1 })
      .where("kid", "=", key?.kid ?? "")
      .execute();
    assert.equal(await at(madeAt + 91 * DAY + 1), many - 1);

    const ca = () => db().updateTable("device_ca").where("org_id", "=", mine());
    const ends = async () => (await look()).filter(({ kind }) => kind === "ca-ends");
    assert.deepEqual(await ends(), []);
    await db()
      .updateTable("device_ca")
      .set({ not_after: 0 })
      .where("org_id", "=", other.organisation.id)
      .execute();
    assert.deepEqual(await ends(), []);
    const soon = clock() + 30 * DAY;
    await ca().set({ not_after: soon }).execute();
    assert.deepEqual(await ends(), [{ kind: "ca-ends", at: soon }]);
    await ca().set({ retired_at: clock() }).execute();
    assert.deepEqual(await ends(), []);
  });
});
