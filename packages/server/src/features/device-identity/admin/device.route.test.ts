/** The page of one device, as administrators of its organisation see it, and nobody else. */
import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { enrolledByCode } from "../../../testing/fixtures/enrolments.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { consoleBrowser } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Other");
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const at = (rest: string, { organisation: { id } } = org) =>
    `${running.baseUrl}/devices/manage/${id}${rest}`;

  test("a device's page shows its certificates, enrolment and activity, to its own organisation only", async () => {
    const { deviceId, der } = await enrolledByCode(running.service, org.issuer, { name: "Gate 7" });
    const { browser } = await consoleBrowser(running, org);
    const list = await browser.get(at("?search=gate"));
    assert.ok(list.body.includes(`href="/devices/manage/${org.organisation.id}/${deviceId}"`));
    const page = await browser.get(at(`/${deviceId}`));
    assert.equal(page.status, 200);
    assert.match(page.body, /<h1[^>]*>.*<bdi>Gate 7<\/bdi>/);
    assert.match(page.body, /id="device-state">.*Active/);
    assert.match(page.body, new RegExp(`id="device-id"[^>]*>${deviceId}<`));
    assert.match(page.body, /id="certificate-status">.*Valid/);
    assert.match(page.body, /id="device-attestation">The key is in a file</);
    const certificates = await browser.get(at(`/${deviceId}/certificates`));
    const { serialNumber } = new X509Certificate(der);
    assert.match(certificates.body, new RegExp(`id="certificate-serial"[^>]*>${serialNumber}<`, "i"));
    const fingerprint = createHash("sha256").update(der).digest("base64url");
    assert.match(certificates.body, new RegExp(`id="certificate-fingerprint"[^>]*>${fingerprint}<`));
    assert.match(certificates.body, /id="certificate-status">.*Valid/);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 5);
    const event = events.find(({ action, target }) => action === "device.enrolled" && target === deviceId);
    const activity = await browser.get(at(`/${deviceId}/activity`));
    assert.ok(event && activity.body.includes(`id="event-${event.id}"`), "its activity");
    assert.match(certificates.body, /id="device-revoke"/);

    await browser.post(at(`/${deviceId}/revoke`), {
      ...(await browser.get(at(`/${deviceId}/revoke`))).hidden,
      reason: "keyCompromise",
    });
    const revoked = await browser.get(at(`/${deviceId}`));
    assert.match(revoked.body, /id="device-state">.*Revoked/);
    assert.match(revoked.body, /id="certificate-status">.*Revoked/);
    assert.match(revoked.body, /Key may be compromised/);
    assert.doesNotMatch(revoked.body, /id="device-replace"|id="more-device-revoke"/);
    const ended = await browser.get(at(`/${deviceId}/certificates`));
    assert.match(ended.body, /id="certificate-status">.*Revoked/);
    assert.doesNotMatch(ended.body, /id="device-revoke"/);

    for (const id of [newUuid(), "x", deviceId.slice(1)])
      assert.equal((await browser.get(at(`/${id}`))).status, 404, id);
    const { browser: foreign } = await consoleBrowser(running, other);
    for (const tab of ["", "/activity", "/certificates"]) {
      const elsewhere = await foreign.get(at(`/${deviceId}${tab}`, other));
      assert.equal(elsewhere.status, 404);
      assert.doesNotMatch(elsewhere.body, /Gate 7/);
    }
  });
});
