/** Devices of the charts: each is counted once, in one state, and only the organisation's own. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { enrolledByCode } from "../../testing/fixtures/enrolments.ts";

import { makeOrganisation, startTestService, type TestService } from "../../testing/test-service.ts";
import { countDevicesByState } from "./devices-by-state.store.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
  });
  after(() => running.close());

  const db = () => running.service.database.query;
  const certificate = (orgId: string, deviceId: string) =>
    db()
      .selectFrom("device_certificate")
      .selectAll()
      .where("org_id", "=", orgId)
      .where("device_id", "=", deviceId);

  test("a device counts in one state: revoked before expired, by its last certificate alone", async () => {
    const { issuer, organisation } = await makeOrganisation(running.service);
    const orgId = organisation.id;
    const count = async (now = clock()) =>
      (await countDevicesByState(db(), orgId, { from: now - 1, step: 1, points: 2, now })).now;
    assert.deepEqual(await count(), { active: 0, expired: 0, revoked: 0 });
    const other = await makeOrganisation(running.service, "Beta");
    await enrolledByCode(running.service, other.issuer);
    assert.deepEqual(await count(), { active: 0, expired: 0, revoked: 0 });

    const first = await enrolledByCode(running.service, issuer, { name: "First" });
    const second = await enrolledByCode(running.service, issuer, { name: "Second" });
    assert.deepEqual(await count(), { active: 2, expired: 0, revoked: 0 });
    const { not_after: end } = await certificate(orgId, first.deviceId).executeTakeFirstOrThrow();
    assert.deepEqual(await count(Number(end) - 1), { active: 2, expired: 0, revoked: 0 });
    assert.deepEqual(await count(Number(end)), { active: 0, expired: 2, revoked: 0 });

    const newer = await certificate(orgId, first.deviceId).executeTakeFirstOrThrow();
    await db()
      .updateTable("device_certificate")
      .set({ superseded_at: clock() })
      .where("fingerprint", "=", newer.fingerprint)
      .execute();
    assert.deepEqual(await count(), { active: 1, expired: 1, revoked: 0 }, "a replaced certificate is none");
    await db()
      .insertInto("device_certificate")
      .values({
        ...newer,
        fingerprint: `${newer.fingerprint.slice(1)}x`,
        serial: "02",
        not_after: Number(end) + 1,
      })
      .execute();
    assert.deepEqual(await count(), { active: 2, expired: 0, revoked: 0 });
    assert.deepEqual(await count(Number(end)), { active: 1, expired: 1, revoked: 0 });

    const revoke = db().updateTable("device").set({ revoked_at: clock() }).where("org_id", "=", orgId);
    await revoke.where("id", "=", second.deviceId).execute();
    assert.deepEqual(await count(Number(end) + 1), { active: 0, expired: 1, revoked: 1 });
  });

  test("over time a device is there from its enrolment, expires with its certificate, and is revoked when it was", async () => {
    const DAY = 86_400_000;
    const { issuer, organisation } = await makeOrganisation(running.service, "Gamma");
    const orgId = organisation.id;
    const now = clock();
    // Ends inside the present day, as the days of a chart do.
    const from = now - (now % DAY) - 3 * DAY;
    const changed = async (name: string, device: object, end: number) => {
      const { deviceId } = await enrolledByCode(running.service, issuer, { name });
      await db().updateTable("device").set(device).where("id", "=", deviceId).execute();
      await db()
        .updateTable("device_certificate")
        .set({ not_after: end })
        .where("device_id", "=", deviceId)
        .execute();
    };
    await changed("Old", { enrolled_at: from - 90 * DAY }, now + 1);
    await changed("Expired", { enrolled_at: from + 0.5 * DAY }, from + 2.5 * DAY);
    await changed("Revoked", { enrolled_at: from + DAY, revoked_at: from + 2 * DAY }, now + 9 * DAY);
    await changed("Ends now", { enrolled_at: now }, now);
    const found = await countDevicesByState(db(), orgId, { from, step: DAY, points: 5, now });
    assert.deepEqual(found.overTime, {
      active: [2, 3, 1, 1, 0],
      expired: [0, 0, 1, 2, 0],
      revoked: [0, 0, 1, 1, 0],
    });
    assert.deepEqual(found.now, { active: 1, expired: 2, revoked: 1 });
  });
});
