import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { asAnotherRequest } from "../../db/transaction-scope.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import { credentials, getTokens, postForm } from "../../testing/fixtures/client.ts";
import {
  type EnrolledDevice,
  enrolledDevice,
  renewedDevice,
} from "../../testing/fixtures/enrolled-device.ts";
import { isStatementBlocked } from "../../testing/probes/blocked-statements.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { invalidateRevocationLists } from "../device-ca/revocation/revocation.store.ts";
import { removeExpired } from "../housekeeping/housekeeping.ts";
import { findDevice, findDeviceKey, insertDeviceKey, listCertificates } from "./devices.store.ts";
import { presentedDevice } from "./presented-device.ts";
import { revokeDevice } from "./revoke-device.ts";

const DAY_MS = 86_400_000;

describe("revoking a device", () => {
  forEachDatabase(({ fresh }) => {
    let server: TestService;
    let org: TestOrganisation;
    const clock = fakeClock();
    const revoke = (device: EnrolledDevice, more: { orgId?: string; address?: string } = {}) =>
      revokeDevice(server.service, {
        orgId: device.orgId,
        deviceId: device.id,
        reason: "keyCompromise",
        actor: "test",
        ...more,
      });
    const reasonOf = async (der: Buffer) => {
      const found = await presentedDevice(server.service, org.organisation.id, der);
      return found.kind === "good" ? "good" : found.reason;
    };

    before(async () => {
      server = await startTestService({ databaseUrl: await fresh(), clock });
      org = await makeOrganisation(server.service);
    });
    after(() => server.close());

    test("revokes the device and its certificates once, with an audit event", async () => {
      const { service } = server;
      const first = await enrolledDevice(service, org.organisation.id);
      const second = await renewedDevice(service, first);
      const neighbour = await enrolledDevice(service, org.organisation.id);
      const devices = [first, second, neighbour];
      assert.deepEqual(await Promise.all(devices.map(({ der }) => reasonOf(der))), ["good", "good", "good"]);
      assert.equal(await revoke(first, { address: "192.0.2.1" }), true);
      assert.deepEqual(await Promise.all(devices.map(({ der }) => reasonOf(der))), [
        "revoked",
        "revoked",
        "good",
      ]);
      const certificates = await listCertificates(service.database.query, first.orgId, first.id);
      assert.deepEqual(
        certificates.map(({ revokedAt }) => revokedAt),
        [clock(), clock()],
      );
      const device = await findDevice(service.database.query, first.orgId, first.id);
      assert.deepEqual([device?.revokedAt, device?.revokedReason], [clock(), "keyCompromise"]);
      assert.equal(await revoke(first), false);
      const events = await listAuditEvents(service.database.query, first.orgId, 20);
      const lines = events.filter(({ action }) => action === "device.revoked");
      assert.equal(lines.length, 1);
      const { actor, target, address, details } = lines[0] ?? {};
      assert.deepEqual(
        [actor, target, address, details],
        ["test", first.id, "192.0.2.1", { reason: "keyCompromise" }],
      );
    });

    test("doesn't revoke another organisation's device", async () => {
      const device = await enrolledDevice(server.service, org.organisation.id);
      const other = await makeOrganisation(server.service, "Beta");
      assert.equal(await revoke(device, { orgId: other.organisation.id }), false);
      assert.equal(await reasonOf(device.der), "good");
    });

    test("revokes only the device's token families", async () => {
      const { service } = server;
      const device = await enrolledDevice(service, org.organisation.id);
      const [bound, free] = [await getTokens(org), await getTokens(org)];
      const families = await service.database.query
        .selectFrom("token_family")
        .select("id")
        .where("org_id", "=", org.organisation.id)
        .orderBy("id")
        .execute();
      await service.database.query
        .updateTable("token_family")
        .set({ device_id: device.id })
        .where("id", "=", families[0]?.id ?? "")
        .execute();
      const isActive = async (token: string) =>
        (await postForm(`${org.issuer}/introspect`, { token, ...credentials(org.web) })).body["active"];
      assert.deepEqual([await isActive(bound.accessToken), await isActive(free.accessToken)], [true, true]);
      assert.ok(await revoke(device));
      assert.deepEqual([await isActive(bound.accessToken), await isActive(free.accessToken)], [false, true]);
      assert.deepEqual(
        [await isActive(bound.refreshToken), await isActive(free.refreshToken)],
        [false, true],
      );
    });

    test("the next CRL lists its certificates", async () => {
      const { service } = server;
      const device = await enrolledDevice(service, org.organisation.id);
      const [certificate] = await listCertificates(service.database.query, device.orgId, device.id);
      const serial = Buffer.from(certificate?.serial ?? "", "hex");
      const isListed = async () => {
        const answer = await fetch(`${org.issuer}/devices/ca.crl`);
        return Buffer.from(await answer.arrayBuffer()).includes(serial);
      };
      assert.equal(await isListed(), false);
      assert.ok(await revoke(device));
      assert.equal(await isListed(), true);
    });

    test("simultaneous revocations lock CRLs in one order", async () => {
      const { service } = server;
      const { database } = service;
      const { id: orgId } = (await makeOrganisation(service, "Rotated")).organisation;
      for (let times = 0; times < 3; times++) await service.deviceCa.rotate({ orgId, actor: "test" });
      const device = await enrolledDevice(service, orgId);
      const touchFirst = (db: Db) =>
        db
          .updateTable("device_crl")
          .set({ renew_at: 0 })
          .where("org_id", "=", orgId)
          .where("generation", "=", 1)
          .execute();
      // PostgreSQL puts the changed row behind the others, and reads a small table that it knows from its beginning.
      await touchFirst(database.query);
      await sql`analyze device_crl`.execute(database.query);
      let second: Promise<boolean> | undefined;
      await database.transaction(async (tx) => {
        await touchFirst(tx);
        second = asAnotherRequest(() => revoke(device));
        if (database.kind === "postgres")
          await eventually("the second waits", () => isStatementBlocked(database.query));
        await invalidateRevocationLists(tx, orgId);
      });
      assert.equal(await second, true);
    });

    test("housekeeping deletes old superseded certificates only", async () => {
      const { service } = server;
      const query = service.database.query;
      const first = await enrolledDevice(service, org.organisation.id);
      const { orgId, id: deviceId } = first;
      const key = { orgId, keyHash: "h".repeat(43), deviceId, tpmPublic: null, createdAt: clock() };
      assert.equal(await insertDeviceKey(query, key), true);
      assert.equal(await insertDeviceKey(query, key), false);
      const second = await renewedDevice(service, first);
      const held = async () =>
        (await listCertificates(query, orgId, deviceId)).map(({ fingerprint }) => fingerprint);
      clock.advance(119 * DAY_MS);
      await removeExpired(service);
      assert.equal((await held()).length, 2);
      clock.advance(2 * DAY_MS);
      await removeExpired(service);
      assert.deepEqual(await held(), [second.thumbprint]);
      assert.ok(await revoke(first));
      clock.advance(500 * DAY_MS);
      await removeExpired(service);
      assert.deepEqual(await held(), [second.thumbprint]);
      assert.ok(await findDevice(query, orgId, deviceId));
      assert.ok(await findDeviceKey(query, orgId, key.keyHash));
    });
  });
});
