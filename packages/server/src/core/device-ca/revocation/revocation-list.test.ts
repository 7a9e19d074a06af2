/** The CRL of each generation as openssl reads it: at once after a revocation, and each of them the last word (RFC 5280 §5). */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { after, before, test } from "node:test";
import { openService, type Service } from "../../../modules/open-service.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import {
  type EnrolledDevice,
  enrolledDevice,
  renewedDevice,
} from "../../../testing/fixtures/enrolled-device.ts";
import { type Openssl, openssl } from "../../../testing/openssl.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";
import { OVERLAP_MS, type RevocationReason, revocationReasons } from "../../devices/device.ts";
import { revokeDevice } from "../../devices/revoke-device.ts";
import { createOrganisation } from "../../organisations/organisations.ts";
import { findCrl, replaceCrl } from "./revocation.store.ts";
import { CRL_LIFETIME_MS, currentRevocationList, type RevocationList } from "./revocation-list.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  let service: Service;
  let clock: FakeClock;
  let ssl: Openssl;
  before(async () => {
    clock = fakeClock();
    ssl = await openssl();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    service = running.service;
  });
  after(async () => {
    await running.close();
    await ssl.remove();
    assert.deepEqual(running.errors, []);
  });

  const newOrg = async () =>
    (await createOrganisation(service, service.database.query, { name: "Acme", actor: "test" })).id;
  const listOf = async (orgId: string, generation = 1, node = service): Promise<RevocationList> => {
    const ca = (await node.deviceCa.signers(orgId)).find((one) => one.generation === generation);
    const list = ca && (await currentRevocationList(node, ca));
    assert.ok(list);
    return list;
  };
  const revoke = (device: EnrolledDevice, reason: RevocationReason = "unspecified") =>
    revokeDevice(service, { orgId: device.orgId, deviceId: device.id, reason, actor: "test" });
  const caPem = async (orgId: string) =>
    (await service.deviceCa.generations(orgId)).map(({ certificatePem }) => certificatePem).join("");
  const textOf = async (list: RevocationList) => {
    await ssl.write("list.crl", list.der);
    return (await ssl("crl", "-inform", "DER", "-in", "@list.crl", "-noout", "-text")).text;
  };
  const serialsIn = (text: string) =>
    [...text.matchAll(/Serial Number: ([0-9A-F]+)/g)].map(([, serial = ""]) => serial.toLowerCase());
  const readSerial = ({ der }: EnrolledDevice) => new X509Certificate(der).serialNumber.toLowerCase();
  /** What somebody decides who has the CA and the CRL. */
  const verify = async (device: EnrolledDevice, ...lists: RevocationList[]) => {
    await ssl.write("ca.pem", await caPem(device.orgId));
    await ssl.write("device.pem", device.certificate);
    const files = await Promise.all(
      lists.map(async ({ der }, index) => {
        const file = `list${index}.pem`;
        const base64 = der.toString("base64").replace(/.{64}/g, "$&\n");
        await ssl.write(file, `-----BEGIN X509 CRL-----\n${base64}\n-----END X509 CRL-----\n`);
        return ["-CRLfile", `@${file}`];
      }),
    );
    const at = ["-attime", String(Math.floor(clock() / 1000))];
    const given = ["-CAfile", "@ca.pem", ...files.flat(), "@device.pem"];
    const { code, text } = await ssl("verify", "-x509_strict", "-crl_check", ...at, ...given);
    return code === 0 ? "good" : (/error \d+ at 0 depth lookup: (.*)/.exec(text)?.[1] ?? text);
  };

  test("openssl verifies the CRL with its CA only", async () => {
    const orgId = await newOrg();
    const list = await listOf(orgId);
    const text = await textOf(list);
    assert.match(text, /Version 2 \(0x1\)\n +Signature Algorithm: ecdsa-with-SHA256/);
    assert.match(text, new RegExp(`Issuer: O = ${orgId}, CN = Device CA 1`));
    assert.match(text, /X509v3 CRL Number: \n +1\n/);
    assert.match(text, /No Revoked Certificates/);
    assert.ok(
      list.nextUpdate > clock() + CRL_LIFETIME_MS - 1000 && list.nextUpdate <= clock() + CRL_LIFETIME_MS,
    );
    assert.ok(list.thisUpdate <= clock() - 5 * 60_000, "a reader whose clock is a little behind takes it");
    await ssl.write("ca.pem", await caPem(orgId));
    const check = () => ssl("crl", "-inform", "DER", "-in", "@list.crl", "-noout", "-CAfile", "@ca.pem");
    assert.match((await check()).text, /verify OK/);
    await ssl.write("ca.pem", await caPem(await newOrg()));
    assert.doesNotMatch((await check()).text, /verify OK/);
  });

  test("the next CRL lists a revoked device with its reason", async () => {
    const [orgId, twin] = [await newOrg(), await newOrg()];
    const good = await enrolledDevice(service, orgId);
    const before = await listOf(orgId);
    assert.equal(await verify(good, before), "good");
    const codes: Readonly<Record<RevocationReason, RegExp | undefined>> = {
      unspecified: undefined,
      keyCompromise: /Key Compromise/,
      superseded: /Superseded/,
      cessationOfOperation: /Cessation Of Operation/,
    };
    let { number } = before;
    for (const reason of revocationReasons) {
      const device = await enrolledDevice(service, orgId);
      assert.equal(await revoke(device, reason), true);
      const list = await listOf(orgId);
      assert.equal(list.number, ++number);
      const text = await textOf(list);
      const serial = readSerial(device);
      assert.ok(serialsIn(text).includes(serial), reason);
      const [, entry = ""] = text.toLowerCase().split(`serial number: ${serial}`);
      const [own = ""] = entry.split("serial number:");
      if (codes[reason]) assert.match(own, new RegExp(codes[reason].source.toLowerCase()));
      else assert.doesNotMatch(own, /crl reason code/);
      assert.equal(await verify(device, list), "certificate revoked");
      assert.equal(await verify(good, list), "good");
    }
    assert.match(await textOf(await listOf(twin)), /No Revoked Certificates/);
    assert.equal((await listOf(orgId)).number, number, "nothing new, nothing signed");
  });

  test("the CRL lists a superseded certificate after its overlap", async () => {
    const orgId = await newOrg();
    const old = await enrolledDevice(service, orgId);
    clock.advance(60 * DAY);
    await listOf(orgId);
    clock.advance(HOUR);
    const renewed = await renewedDevice(service, old);
    clock.advance(OVERLAP_MS - 1);
    assert.equal(await verify(old, await listOf(orgId)), "good");
    clock.advance(1);
    const list = await listOf(orgId);
    assert.equal(await verify(old, list), "certificate revoked");
    assert.match(await textOf(list), /Superseded/);
    assert.equal(await verify(renewed, list), "good");
  });

  test("every valid CRL reflects the end of an overlap", async () => {
    const orgId = await newOrg();
    const old = await enrolledDevice(service, orgId);
    // A list may be held until its end by whoever fetched it: it must not outlive the overlap of what it leaves out.
    for (const wait of [0, HOUR, 13 * HOUR]) {
      const device = await enrolledDevice(service, orgId);
      const fetched = await listOf(orgId);
      clock.advance(wait);
      await renewedDevice(service, device);
      assert.ok(fetched.nextUpdate <= clock() + OVERLAP_MS, `${wait}`);
      const later = await listOf(orgId);
      assert.equal(await verify(old, later), "good");
    }
  });

  test("an expired certificate leaves the CRL a day later", async () => {
    const orgId = await newOrg();
    const device = await enrolledDevice(service, orgId);
    await revoke(device, "keyCompromise");
    const serial = readSerial(device);
    const { notAfter } = await service.database.query
      .selectFrom("device_certificate")
      .select("not_after as notAfter")
      .where("org_id", "=", orgId)
      .executeTakeFirstOrThrow();
    clock.advance(notAfter - clock());
    assert.ok(serialsIn(await textOf(await listOf(orgId))).includes(serial));
    clock.advance(DAY);
    assert.deepEqual(serialsIn(await textOf(await listOf(orgId))), []);
  });

  test("signs a new CRL with a higher number after half a day", async () => {
    const orgId = await newOrg();
    const first = await listOf(orgId);
    clock.advance(12 * HOUR - 1);
    assert.deepEqual(await listOf(orgId), first);
    clock.advance(1);
    const second = await listOf(orgId);
    assert.equal(second.number, first.number + 1);
    assert.ok(second.nextUpdate > first.nextUpdate);
    // Signed by a node whose clock was far ahead.
    clock.advance(DAY);
    await listOf(orgId);
    clock.advance(-2 * DAY);
    assert.ok((await listOf(orgId)).nextUpdate <= clock() + CRL_LIFETIME_MS);
    clock.advance(2 * DAY);
  });

  test("each generation has its own CRL, also after a rotation", async () => {
    const orgId = await newOrg();
    const old = await enrolledDevice(service, orgId);
    await service.deviceCa.rotate({ orgId, actor: "test" });
    const young = await enrolledDevice(service, orgId);
    const both = async () => [await listOf(orgId, 1), await listOf(orgId, 2)] as const;
    const [one, two] = await both();
    assert.deepEqual([await verify(old, one, two), await verify(young, one, two)], ["good", "good"]);
    assert.equal(await verify(old, two), "unable to get certificate CRL");
    await revoke(old, "keyCompromise");
    await revoke(young);
    const [first, second] = await both();
    assert.equal(await verify(old, first, second), "certificate revoked");
    assert.equal(await verify(young, first, second), "certificate revoked");
    assert.deepEqual(serialsIn(await textOf(first)), [readSerial(old)]);
    assert.deepEqual(serialsIn(await textOf(second)), [readSerial(young)]);
  });

  test("a revocation during signing is on the next CRL", async () => {
    const orgId = await newOrg();
    const device = await enrolledDevice(service, orgId);
    await listOf(orgId);
    const { query } = service.database;
    const read = await findCrl(query, orgId, 1);
    assert.ok(read);
    await revoke(device);
    // Signed of what was read before the revocation, and written after it.
    const late = { ...read, crl_number: read.crl_number + 1, renew_at: clock() + DAY };
    assert.equal(await replaceCrl(query, late), true);
    assert.equal(await replaceCrl(query, late), false, "the number is taken");
    const list = await listOf(orgId);
    assert.equal(list.number, read.crl_number + 2);
    assert.equal(await verify(device, list), "certificate revoked");
  });

  test("concurrent fetches after a revocation see it, and CRL numbers are unique", async () => {
    const orgId = await newOrg();
    await listOf(orgId);
    const node =
      name === "postgres" ? await openService(service.config, { clock, onError: assert.fail }) : service;
    const devices = await Promise.all(Array.from({ length: 6 }, () => enrolledDevice(service, orgId)));
    const seen = new Map<number, string>();
    await Promise.all(
      devices.map(async (device, index) => {
        await revoke(device);
        const lists = await Promise.all([listOf(orgId), listOf(orgId, 1, node)]);
        const serial = readSerial(device);
        for (const { der, number } of lists) {
          assert.ok(der.includes(Buffer.from(serial, "hex")), `device ${index}`);
          assert.equal(seen.get(number) ?? der.toString("hex"), der.toString("hex"), `number ${number}`);
          seen.set(number, der.toString("hex"));
        }
      }),
    );
    if (node !== service) await node.close();
  });
});
