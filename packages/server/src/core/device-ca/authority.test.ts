/** The device CA of each organisation: made once, sealed, rotated by one, and never good for another organisation. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, test } from "node:test";
import { openService, type Service } from "../../modules/open-service.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { type EnrolledDevice, enrolledDevice } from "../../testing/fixtures/enrolled-device.ts";
import { type Openssl, openssl } from "../../testing/openssl.ts";
import { dumpTable } from "../../testing/probes/dump-database.ts";
import { startTestService, type TestService } from "../../testing/test-service.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { removeExpired, runRound } from "../housekeeping/housekeeping.ts";
import { createOrganisation } from "../organisations/organisations.ts";
import { type DeviceCa, deviceCa } from "./authority.ts";
import { tryStoredCaKeys } from "./ca-key.ts";
import { findGenerations } from "./device-ca.store.ts";
import { CERTIFICATE_LIFETIME_MS, DRAIN_MS, ROTATE_AHEAD_MS } from "./generation.ts";
import { rotateGeneration } from "./rotation.ts";

const DAY = 86_400_000;
const spki = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({
  format: "der",
  type: "spki",
});

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  let other: TestService | undefined;
  /** Of a second node; SQLite has one that serves, and has a second cache here. */
  let there: DeviceCa;
  let service: Service;
  let clock: FakeClock;
  let ssl: Openssl;
  before(async () => {
    clock = fakeClock();
    ssl = await openssl();
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock });
    service = running.service;
    const { baseUrl } = running;
    if (name === "postgres") other = await startTestService({ databaseUrl, clock, baseUrl });
    there = other?.service.deviceCa ?? deviceCa({ ...service, baseUrl });
  });
  after(async () => {
    await other?.close();
    await running.close();
    await ssl.remove();
    assert.deepEqual([...running.errors, ...(other?.errors ?? [])], []);
  });

  const newOrg = async () =>
    (await createOrganisation(service, service.database.query, { name: "Acme", actor: "test" })).id;
  const numbers = async (orgId: string, node = service.deviceCa) =>
    (await node.generations(orgId)).map(({ generation }) => generation);
  const events = async (orgId: string) =>
    (await listAuditEvents(service.database.query, orgId, 50))
      .filter(({ action }) => action.startsWith("device-ca."))
      .map(({ action, actor, target }) => `${actor} ${action} ${target}`);
  const issue = (orgId: string, node = service.deviceCa) =>
    node.issue({
      orgId,
      deviceId: "01998d6e-0000-7000-8000-0000000000d1",
      spki,
      attestation: "none",
    });
  const trusted = async (orgId: string, { certificate }: Pick<EnrolledDevice, "certificate">) => {
    const pem = (await service.deviceCa.generations(orgId)).map(({ certificatePem }) => certificatePem);
    await ssl.write("ca.pem", pem.join(""));
    await ssl.write("device.pem", certificate);
    const at = String(Math.floor(clock() / 1000));
    const { code } = await ssl("verify", "-x509_strict", "-attime", at, "-CAfile", "@ca.pem", "@device.pem");
    return code === 0;
  };

  test("the device CA is created in the organisation's transaction", async () => {
    const orgId = await service.database.transaction(async (tx) => {
      const { id } = await createOrganisation(service, tx, { name: "Acme", actor: "operator" });
      await service.deviceCa.create(tx, { orgId: id, actor: "operator" });
      await service.deviceCa.create(tx, { orgId: id, actor: "operator" });
      return id;
    });
    assert.deepEqual(await events(orgId), ["operator device-ca.created 1"]);
    assert.deepEqual(await numbers(orgId), [1]);
    assert.deepEqual(await events(orgId), ["operator device-ca.created 1"]);
  });

  test("creates a missing CA on first use, once across nodes", async () => {
    const orgId = await newOrg();
    const nodes = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? service.deviceCa : there));
    const made = await Promise.all(nodes.map((node) => node.generations(orgId)));
    assert.equal(new Set(made.map(([first]) => first?.certificatePem)).size, 1);
    assert.deepEqual(await events(orgId), ["system device-ca.created 1"]);
  });

  test("a CA doesn't accept another organisation's certificates with its names", async () => {
    const [a, b] = [await newOrg(), await newOrg()];
    const [ofA, ofB] = [await enrolledDevice(service, a), await enrolledDevice(service, b)];
    for (const [orgId, device, expected] of [
      [a, ofA, true],
      [b, ofB, true],
      [a, ofB, false],
      [b, ofA, false],
    ] as const) {
      assert.equal(await service.deviceCa.isIssuedByCa(orgId, device.der), expected);
      assert.equal(await trusted(orgId, device), expected);
    }
  });

  test("recognises exactly the device certificates it signed", async () => {
    const orgId = await newOrg();
    const { der, certificate } = await enrolledDevice(service, orgId);
    const isIssued = (bytes: Buffer) => service.deviceCa.isIssuedByCa(orgId, bytes);
    const [ca] = await service.deviceCa.generations(orgId);
    assert.equal(await isIssued(der), true);
    assert.equal(await isIssued(ca?.der ?? der), false, "the CA's own");
    assert.equal(await isIssued(Buffer.from(certificate)), false, "PEM");
    assert.equal(await isIssued(Buffer.concat([der, Buffer.alloc(1)])), false, "a trailing byte");
    for (const bytes of [Buffer.alloc(0), Buffer.from("nonsense"), der.subarray(0, -1)])
      assert.equal(await isIssued(bytes), false);
    for (let at = 0; at < der.length; at += 7) {
      const altered = Buffer.from(der);
      altered[at] = (altered[at] ?? 0) ^ 1;
      assert.equal(await isIssued(altered), false, `byte ${at}`);
    }
  });

  test("a rotation takes effect on every node, and earlier certificates stay valid", async () => {
    const orgId = await newOrg();
    const before = await enrolledDevice(service, orgId);
    assert.deepEqual(await numbers(orgId, there), [1]);
    const made = await service.deviceCa.rotate({ orgId, actor: "operator" });
    assert.deepEqual([made.generation, made.retiredAt], [2, null]);
    assert.deepEqual(await numbers(orgId), [2, 1]);
    const [, first] = await service.deviceCa.generations(orgId);
    assert.equal(first?.retiredAt, clock());
    const after = await enrolledDevice(service, orgId);
    for (const device of [before, after]) {
      assert.equal(await service.deviceCa.isIssuedByCa(orgId, device.der), true);
      assert.equal(await trusted(orgId, device), true);
    }
    const { generation, caPem } = await issue(orgId);
    assert.deepEqual([generation, caPem], [2, made.certificatePem]);
    // It hears of it; at the latest it looks for itself.
    clock.advance(31_000);
    assert.equal((await issue(orgId, there)).generation, 2);
    assert.deepEqual(await events(orgId), ["operator device-ca.rotated 2", "system device-ca.created 1"]);
  });

  test("of simultaneous rotations one wins", async () => {
    const orgId = await newOrg();
    assert.deepEqual(await numbers(orgId), [1]);
    const nodes = [service, other?.service ?? service, service, other?.service ?? service];
    // All replace the same one: a node that hears of a rotation before its own would replace the one that came of it.
    const by = { actor: "operator", replaces: 1 };
    const outcomes = await Promise.allSettled(nodes.map((node) => rotateGeneration(node, orgId, by)));
    const lost = outcomes.flatMap((one) => (one.status === "rejected" ? [(one.reason as Error).name] : []));
    assert.deepEqual(lost, ["RotatedMeanwhile", "RotatedMeanwhile", "RotatedMeanwhile"]);
    const stored = await findGenerations(service.database.query, orgId);
    assert.deepEqual(
      stored.map(({ generation }) => generation),
      [2, 1],
    );
    assert.equal((await dumpTable(service.database.query, "device_crl", orgId)).length, 2);
  });

  test("a node whose rotation came too late knows the one that was faster, before it hears of it", async () => {
    const orgId = await newOrg();
    const deaf = {
      ...service,
      baseUrl: running.baseUrl,
      changes: { ...service.changes, subscribe: () => {} },
    };
    const node = deviceCa(deaf);
    assert.deepEqual(await numbers(orgId, node), [1]);
    await service.deviceCa.rotate({ orgId, actor: "operator" });
    assert.deepEqual(await numbers(orgId, node), [1]);
    await assert.rejects(node.rotate({ orgId, actor: "operator" }), { name: "RotatedMeanwhile" });
    assert.deepEqual(await numbers(orgId, node), [2, 1]);
  });

  test("binds the encrypted key to its row, and rejects another master key at startup", async () => {
    const orgId = await newOrg();
    const { query } = service.database;
    await issue(orgId);
    const twin = await newOrg();
    await issue(twin);
    assert.doesNotMatch((await dumpTable(query, "device_ca", orgId)).join(), /PRIVATE|MIGHAgEAMBMG/);
    const [mine] = await service.deviceCa.signers(orgId);
    const pkcs8 = await query
      .selectFrom("device_ca")
      .select("private_key")
      .where("org_id", "=", orgId)
      .executeTakeFirstOrThrow();
    assert.ok(service.encryption.open(pkcs8.private_key, `device-ca|${orgId}|1`).length > 100);
    assert.throws(() => service.encryption.open(pkcs8.private_key, `device-ca|${twin}|1`));
    assert.throws(() => service.encryption.open(pkcs8.private_key, `device-ca|${orgId}|2`));
    assert.equal(mine?.key.publicKey.asymmetricKeyType, "ec");
    assert.equal((await tryStoredCaKeys(service.database, service.encryption)).failed, 0);
    const config = { ...service.config, masterKey: Buffer.alloc(32, 9) };
    await assert.rejects(openService(config, { onError: () => {} }), /the master key is not the one/);
    await query.updateTable("device_ca").set(pkcs8).where("org_id", "=", twin).execute();
    clock.advance(31_000);
    await assert.rejects(issue(twin), "moved to another organisation it does not open");
    assert.equal((await tryStoredCaKeys(service.database, service.encryption)).failed, 1);
    await query.deleteFrom("device_ca").where("org_id", "=", twin).execute();
  });

  test("housekeeping rotates a CA before certificates would be shortened", async () => {
    const orgId = await newOrg();
    const [first] = await service.deviceCa.generations(orgId);
    assert.ok(first);
    clock.advance(first.notAfter - ROTATE_AHEAD_MS - clock());
    await runRound(service, "a");
    assert.deepEqual(await numbers(orgId), [1]);
    const last = await issue(orgId);
    assert.ok(last.notAfter - clock() > CERTIFICATE_LIFETIME_MS - 1_000);
    assert.ok(first.notAfter - last.notAfter > CERTIFICATE_LIFETIME_MS - 1_000);
    clock.advance(1);
    await runRound(service, "a");
    await runRound(service, "a");
    assert.deepEqual(await numbers(orgId), [2, 1]);
    assert.deepEqual((await events(orgId))[0], "system device-ca.rotated 2");
  });

  test("issuing rotates an overdue CA, once across nodes", async () => {
    const orgId = await newOrg();
    const [first] = await service.deviceCa.generations(orgId);
    clock.advance((first?.notAfter ?? 0) - clock() + DAY);
    const made = await Promise.all([issue(orgId), issue(orgId, there), issue(orgId)]);
    assert.deepEqual(
      made.map(({ generation }) => generation),
      [2, 2, 2],
    );
    assert.deepEqual(await numbers(orgId), [2, 1]);
    assert.ok(made.every(({ notAfter }) => notAfter - clock() > CERTIFICATE_LIFETIME_MS - 1_000));
  });

  test("deletes a generation and its key after its last certificate has expired", async () => {
    const orgId = await newOrg();
    await enrolledDevice(service, orgId);
    await service.deviceCa.rotate({ orgId, actor: "operator" });
    const { query } = service.database;
    const held = async () => [
      (await dumpTable(query, "device_ca", orgId)).length,
      (await dumpTable(query, "device_crl", orgId)).length,
    ];
    clock.advance(DRAIN_MS);
    await removeExpired(service);
    assert.deepEqual(await held(), [2, 2]);
    clock.advance(1);
    // Whatever the calendar says, a certificate that is good keeps its CA.
    const unexpired = { not_after: clock() + 1 };
    await query.updateTable("device_certificate").set(unexpired).where("org_id", "=", orgId).execute();
    await removeExpired(service);
    assert.deepEqual(await held(), [2, 2]);
    clock.advance(1);
    await removeExpired(service);
    assert.deepEqual(await held(), [1, 1]);
    clock.advance(31_000);
    assert.deepEqual(await numbers(orgId), [2], "the one that issues stays");
  });
});
