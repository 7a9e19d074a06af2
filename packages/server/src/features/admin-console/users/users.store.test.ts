// What the console's pages read beside the core is of one organisation, and of one member: also of a guest, whose id two have.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { findLastSignIn } from "../../../core/sessions/last-sign-in.store.ts";
import { insertMembership } from "../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";
import { applicationsLike, listNamedPreauthorizations } from "../consents/consents.store.ts";
import { listAssignedTo } from "./users.store.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Beta");
    const homeOrgId = org.organisation.id;
    const guest = { orgId: other.organisation.id, userId: org.user.id, homeOrgId, role: "Standard" } as const;
    await insertMembership(db(), { ...guest, now: 1 });
  });
  after(() => running.close());

  const db = () => running.service.database.query;
  const member = () => ({ orgId: org.organisation.id, userId: org.user.id });
  const neighbour = () => ({ ...member(), userId: org.administrator.id });
  const guest = () => ({ ...member(), orgId: other.organisation.id });

  test("shows the member's last sign-in to this organisation, even after the session is deleted", async () => {
    const { orgId, userId } = neighbour();
    const did = { orgId, at: 9_000_000_000_000, actor: `user:${userId}`, action: "user.enabled" } as const;
    await recordAuditEvent(db(), { ...did, target: org.user.id });
    for (const isForgotten of [false, true]) {
      if (isForgotten) await db().deleteFrom("browser_session").execute();
      assert.ok((await findLastSignIn(db(), member())) !== undefined);
      for (const none of [neighbour(), guest()]) assert.equal(await findLastSignIn(db(), none), undefined);
    }
  });

  test("shows the applications that the member is assigned to in this organisation", async () => {
    const names = async (whose: { orgId: string; userId: string }) =>
      (await listAssignedTo(db(), whose, 10)).map(({ id }) => id);
    assert.deepEqual(await names(member()), [org.ids["applications"]]);
    for (const none of [neighbour(), guest()]) assert.deepEqual(await names(none), []);
  });

  test("searches applications of this organisation only", async () => {
    const { id: orgId } = org.organisation;
    const rows = await db().selectFrom("application").select("id").where("org_id", "=", orgId).execute();
    const own = rows.map(({ id }) => id);
    const ids = (found: readonly { id: string }[]) => found.map(({ id }) => id).sort();
    assert.deepEqual(ids(await applicationsLike(db(), orgId, "", 100)), own.sort());
    assert.deepEqual(await applicationsLike(db(), orgId, other.ids["applications"] ?? "", 100), []);
    const given = await listNamedPreauthorizations(db(), orgId, { limit: 100 });
    assert.deepEqual(ids(given), [org.ids["preauthorizations"]]);
  });
});
