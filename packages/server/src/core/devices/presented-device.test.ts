import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { enrolledDevice, renewedDevice } from "../../testing/fixtures/enrolled-device.ts";
import { makeOrganisation, startTestService, type TestService } from "../../testing/test-service.ts";
import { OVERLAP_MS } from "./device.ts";
import { findByCertificate, insertCertificate } from "./devices.store.ts";
import { presentedDevice } from "./presented-device.ts";
import { revokeDevice } from "./revoke-device.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let orgId: string;
  let otherId: string;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    orgId = (await makeOrganisation(running.service)).organisation.id;
    otherId = (await makeOrganisation(running.service, "Elsewhere")).organisation.id;
  });
  after(() => running.close());

  const presented = (der: Buffer, of = orgId) => presentedDevice(running.service, of, der);
  const refused = (reason: string) => ({ kind: "refused", reason });

  test("returns the device of a certificate, or the reason it is refused", async () => {
    const device = await enrolledDevice(running.service, orgId, "tpm");
    const found = await presented(device.der);
    assert.ok(found.kind === "good");
    assert.equal(found.device.id, device.id);
    assert.equal(found.device.attestation, "tpm");
    assert.equal(found.certificate.fingerprint, device.thumbprint);
    assert.deepEqual(await presented(device.der, otherId), refused("unknown"));
    const renewed = await renewedDevice(running.service, device);
    assert.equal((await presented(device.der)).kind, "good");
    clock.advance(OVERLAP_MS);
    assert.deepEqual(await presented(device.der), refused("superseded"));
    assert.equal((await presented(renewed.der)).kind, "good");
    await revokeDevice(running.service, { orgId, deviceId: device.id, reason: "unspecified", actor: "test" });
    assert.deepEqual(await presented(renewed.der), refused("revoked"));
    assert.deepEqual(await presented(device.der), refused("revoked"));
  });

  test("refuses a stored certificate that the CA didn't sign", async () => {
    const device = await enrolledDevice(running.service, orgId);
    const record = await findByCertificate(running.service.database.query, orgId, device.thumbprint);
    assert.ok(record);
    const put = async (der: Buffer, serial: string) => {
      const fingerprint = sha256Base64url(der);
      const made = { ...record.certificate, der, fingerprint, serial, supersededAt: clock() };
      await insertCertificate(running.service.database.query, made);
    };
    const validTo = new Date(clock() + 86_400_000);
    const own = testCertificate({
      subject: device.id,
      uris: [device.uri],
      privateKey: device.privateKey,
      validTo,
    });
    await put(own.der, "00000000000000000000000000000001");
    assert.deepEqual(await presented(own.der), refused("forged"));
    // Of a CA that is right elsewhere.
    const elsewhere = await enrolledDevice(running.service, otherId);
    await put(elsewhere.der, "00000000000000000000000000000002");
    assert.deepEqual(await presented(elsewhere.der), refused("forged"));
  });

  test("refuses a certificate after its own expiry, whatever the database says", async () => {
    const device = await enrolledDevice(running.service, orgId);
    await running.service.database.query
      .updateTable("device_certificate")
      .set({ not_after: clock() + 400 * 86_400_000 })
      .where("org_id", "=", orgId)
      .where("fingerprint", "=", device.thumbprint)
      .execute();
    clock.advance(91 * 86_400_000);
    assert.deepEqual(await presented(device.der), refused("forged"));
  });
});
