import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { newEcKey } from "@signet/protocol/testing/test-certificate";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { listCertificates } from "../../../core/devices/devices.store.ts";
import { presentedDevice } from "../../../core/devices/presented-device.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import type { Answer } from "../../../testing/fixtures/client.ts";
import { enrolledDevice } from "../../../testing/fixtures/enrolled-device.ts";
import { csrOf, derOf, enrol, enrolledByCode, newCode, renew } from "../../../testing/fixtures/enrolments.ts";
import { type TestListeners, testListeners } from "../../../testing/test-listeners.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { renewCertificate } from "./renew.ts";

const DAY_MS = 86_400_000;

describe("POST /oauth/{org}/devices/renew", () => {
  forEachDatabase(({ fresh }) => {
    let listeners: TestListeners;
    let server: TestService;
    let org: TestOrganisation;
    let other: TestOrganisation;
    const clock = fakeClock();
    /** By the listener of proxies, which says in a header what certificate it has seen. */
    const devicesOf = ({ organisation }: TestOrganisation) =>
      `${listeners.proxyUrl}/oauth/${organisation.id}/devices`;
    const ask = (shown: Buffer | undefined, body: Readonly<Record<string, unknown>>, of = org) =>
      renew(devicesOf(of), shown, body);
    const enrolled = (of = org) => enrolledByCode(server.service, of.issuer);
    const presentedStatus = async (der: Buffer, of = org) => {
      const found = await presentedDevice(server.service, of.organisation.id, der);
      return found.kind === "good" ? "good" : found.reason;
    };
    const renewed = ({ status, body }: Answer): Buffer => {
      assert.equal(status, 201, JSON.stringify(body));
      return derOf(String(body["certificate"]));
    };
    const refused = ({ status, body, headers }: Answer, expected: number, error: string) => {
      assert.deepEqual([status, body["error"]], [expected, error], JSON.stringify(body));
      assert.equal(headers.get("cache-control"), "no-store");
    };

    before(async () => {
      listeners = await testListeners();
      server = await startTestService({ databaseUrl: await fresh(), clock, env: listeners.env });
      org = await makeOrganisation(server.service);
      other = await makeOrganisation(server.service, "Beta");
    });
    after(async () => {
      await server.close();
      await listeners.remove();
    });

    test("renews after two thirds of the lifetime, with a day of overlap", async () => {
      const device = await enrolled();
      const csr = await csrOf(device.key);
      clock.advance(59 * DAY_MS);
      const early = await ask(device.der, { csr });
      refused(early, 400, "invalid_request");
      assert.match(String(early.body["error_description"]), /from \d{4}-\d{2}-\d{2}T/);
      clock.advance(1.1 * DAY_MS);
      const answer = await ask(device.der, { csr });
      const next = renewed(answer);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      assert.deepEqual([answer.body["device_id"], answer.body["attestation"]], [device.deviceId, "none"]);
      const certificate = new X509Certificate(next);
      assert.ok(certificate.verify(new X509Certificate(String(answer.body["ca"])).publicKey));
      assert.equal(certificate.validToDate.getTime() / 1000, answer.body["not_after"]);
      assert.deepEqual([await presentedStatus(device.der), await presentedStatus(next)], ["good", "good"]);
      clock.advance(DAY_MS - 1000);
      assert.equal(await presentedStatus(device.der), "good");
      clock.advance(1000);
      assert.deepEqual(
        [await presentedStatus(device.der), await presentedStatus(next)],
        ["superseded", "good"],
      );
      refused(await ask(device.der, { csr }), 401, "invalid_client");
      const audit = await listAuditEvents(server.service.database.query, org.organisation.id, 5);
      const event = audit.find(({ action }) => action === "device.renewed");
      assert.deepEqual([event?.target, event?.actor], [device.deviceId, `device:${device.deviceId}`]);
    });

    test("repeats the renewal for the same key, and refuses another key", async () => {
      const device = await enrolled();
      const [csr, newKey] = [await csrOf(device.key), newEcKey()];
      clock.advance(61 * DAY_MS);
      const next = renewed(await ask(device.der, { csr }));
      assert.deepEqual(renewed(await ask(device.der, { csr })), next);
      assert.deepEqual(renewed(await ask(device.der, { csr: await csrOf(device.key) })), next);
      refused(await ask(device.der, { csr: await csrOf(newKey) }), 400, "invalid_request");
      const { service } = server;
      const certificates = await listCertificates(
        service.database.query,
        org.organisation.id,
        device.deviceId,
      );
      assert.equal(certificates.length, 2);
      // The next one is not due.
      refused(await ask(next, { csr }), 400, "invalid_request");
    });

    test("of simultaneous renewals one wins; with one key all get the same certificate", async () => {
      const [device, steady] = [await enrolled(), await enrolled()];
      clock.advance(61 * DAY_MS);
      const csrs = await Promise.all(Array.from({ length: 4 }, () => csrOf(newEcKey())));
      const answers = await Promise.all(csrs.map((csr) => ask(device.der, { csr })));
      assert.equal(answers.filter(({ status }) => status === 201).length, 1);
      for (const answer of answers) if (answer.status !== 201) refused(answer, 400, "invalid_request");
      const csr = await csrOf(steady.key);
      const same = await Promise.all(Array.from({ length: 4 }, () => ask(steady.der, { csr })));
      assert.equal(new Set(same.map((answer) => renewed(answer).toString("base64"))).size, 1);
    });

    test("accepts a new key, but none that was enrolled before", async () => {
      const [device, neighbour] = [await enrolled(), await enrolled()];
      const key = newEcKey();
      clock.advance(61 * DAY_MS);
      refused(await ask(device.der, { csr: await csrOf(neighbour.key) }), 409, "key_already_enrolled");
      const next = renewed(await ask(device.der, { csr: await csrOf(key) }));
      assert.equal(new X509Certificate(next).publicKey.export({ format: "jwk" }).x, publicX(key));
      clock.advance(61 * DAY_MS);
      // Its own before.
      refused(await ask(next, { csr: await csrOf(device.key) }), 409, "key_already_enrolled");
      const code = await newCode(server.service, org.organisation.id);
      refused(await enrol(org.issuer, code, key), 409, "key_already_enrolled");
      renewed(await ask(next, { csr: await csrOf(key) }));
    });

    test("requires a valid certificate of this organisation", async () => {
      const [device, foreign] = [await enrolled(), await enrolled(other)];
      const csr = await csrOf(device.key);
      clock.advance(61 * DAY_MS);
      refused(await ask(undefined, { csr }), 401, "invalid_client");
      refused(await ask(foreign.der, { csr: await csrOf(foreign.key) }), 401, "invalid_client");
      refused(await ask(foreign.der, { csr }), 401, "invalid_client");
      const altered = Buffer.from(device.der);
      altered.writeUInt8((altered.at(-1) ?? 0) ^ 1, altered.length - 1);
      refused(await ask(altered, { csr }), 401, "invalid_client");
      const ca = String((await ask(foreign.der, { csr: await csrOf(foreign.key) }, other)).body["ca"]);
      refused(await ask(derOf(ca), { csr }, other), 401, "invalid_client");
      // By the public listener nobody says what certificate there was.
      refused(await renew(`${org.issuer}/devices`, device.der, { csr }), 401, "invalid_client");
      const revocation = { orgId: org.organisation.id, deviceId: device.deviceId, actor: "test" };
      await revokeDevice(server.service, { ...revocation, reason: "keyCompromise" });
      const gone = await ask(device.der, { csr });
      refused(gone, 401, "invalid_client");
      assert.match(String(gone.body["error_description"]), /revoked/);
      const late = await enrolled();
      clock.advance(91 * DAY_MS);
      refused(await ask(late.der, { csr: await csrOf(late.key) }), 401, "invalid_client");
    });

    test("a simultaneous revocation also revokes the renewed certificate", async () => {
      const device = await enrolled();
      clock.advance(61 * DAY_MS);
      const { service } = server;
      const revocation = { orgId: org.organisation.id, deviceId: device.deviceId, actor: "test" };
      await Promise.all([
        ask(device.der, { csr: await csrOf(newEcKey()) }),
        revokeDevice(service, { ...revocation, reason: "unspecified" }),
      ]);
      const certificates = await listCertificates(
        service.database.query,
        org.organisation.id,
        device.deviceId,
      );
      for (const { revokedAt } of certificates) assert.notEqual(revokedAt, null);
    });

    test("a device revoked while its renewal is signed gets no certificate", async () => {
      const device = await enrolled();
      clock.advance(61 * DAY_MS);
      const { service } = server;
      const orgId = org.organisation.id;
      const { deviceId } = device;
      const deviceCa = {
        ...service.deviceCa,
        issue: async (input: Parameters<typeof service.deviceCa.issue>[0]) => {
          await revokeDevice(service, { orgId, deviceId, actor: "test", reason: "unspecified" });
          return service.deviceCa.issue(input);
        },
      };
      const deps = { ...service, rateLimits: service.config.rateLimits, deviceCa };
      const renewal = { orgId, presented: device.der, evidence: {}, address: "192.0.2.1" };
      for (const key of [device.key, newEcKey()])
        await assert.rejects(renewCertificate(deps, { ...renewal, csr: await csrOf(key) }), {
          status: 401,
        });
      assert.equal((await listCertificates(service.database.query, orgId, deviceId)).length, 1);
    });

    test("a repeated renewal signs nothing", async () => {
      const device = await enrolled();
      const csr = await csrOf(device.key);
      clock.advance(61 * DAY_MS);
      const next = renewed(await ask(device.der, { csr }));
      const { service } = server;
      const issue = () => Promise.reject(new Error("it is signed again"));
      const deps = { ...service, rateLimits: service.config.rateLimits };
      const again = await renewCertificate(
        { ...deps, deviceCa: { ...service.deviceCa, issue } },
        { orgId: org.organisation.id, presented: device.der, csr, evidence: {}, address: "192.0.2.1" },
      );
      assert.deepEqual(derOf(again.certificate), next);
    });

    test("parses the CSR after the certificate is accepted", async () => {
      const device = await enrolled();
      const csr = await csrOf(device.key);
      clock.advance(61 * DAY_MS);
      refused(await ask(device.der, {}), 400, "invalid_request");
      refused(await ask(device.der, { csr, code: "x" }), 400, "invalid_request");
      refused(await ask(undefined, { csr: "nonsense" }), 401, "invalid_client");
      refused(await ask(device.der, { csr: "nonsense" }), 400, "csr_malformed");
      refused(await ask(device.der, { csr: "A".repeat(16 * 1024 + 1) }), 400, "csr_too_large");
      refused(await ask(device.der, { csr: "A".repeat(33 * 1024) }), 413, "invalid_request");
      renewed(await ask(device.der, { csr }));
    });

    test("requires attestation for a new key of a device with a TPM only", async () => {
      const device = await enrolled();
      const tpm = await enrolledDevice(server.service, org.organisation.id, "tpm");
      await server.service.database.query
        .insertInto("device_key")
        .values({
          org_id: org.organisation.id,
          key_hash: sha256Base64url(
            new X509Certificate(tpm.der).publicKey.export({ format: "der", type: "spki" }),
          ),
          device_id: tpm.id,
          tpm_public: "AAAA",
          created_at: clock(),
        })
        .execute();
      clock.advance(61 * DAY_MS);
      const csr = await csrOf(device.key);
      for (const more of [{ attest: "AA==" }, { signature: "AA==" }, { key_public: "AA==" }])
        refused(await ask(device.der, { csr, ...more }), 400, "invalid_request");
      const newCsr = await csrOf(newEcKey());
      refused(await ask(tpm.der, { csr: newCsr }), 403, "attestation_required");
      refused(await ask(tpm.der, { csr: newCsr, attest: "AA==" }), 400, "invalid_request");
      refused(await ask(tpm.der, { csr: newCsr, attest: "AA==", signature: "AA==" }), 400, "invalid_request");
      // The key that was attested before is good without.
      const answer = await ask(tpm.der, { csr: await csrOf(tpm.privateKey) });
      renewed(answer);
      assert.equal(answer.body["attestation"], "tpm");
      assert.deepEqual(server.errors, []);
    });
  });
});

const publicX = (key: ReturnType<typeof newEcKey>) => key.export({ format: "jwk" }).x;
