/** A device with its key in a TPM (swtpm), with the real service on loopback. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { importRoots } from "@signet/server/features/device-identity/ek-trust/roots";
import { readTrustFile } from "@signet/server/features/device-identity/ek-trust/trust-file";
import { freePort } from "@signet/server/testing/free-port";
import { exitCodes } from "./exit-codes.ts";
import { readRecord, writeRecord } from "./state/device-record.ts";
import { type ServiceHarness, serviceHarness } from "./testing/service-harness.ts";
import { type SoftwareTpm, startSwtpm, swtpmMissing } from "./testing/swtpm.ts";
import { usedHandles } from "./tpm/endorsement-key.ts";
import { withTpm } from "./tpm/tpm.ts";
import { parseTpmLocation } from "./tpm/transport.ts";

const DAY_MS = 86_400_000;
const missing = await swtpmMissing();

test("swtpm is installed in CI", () => {
  assert.ok(missing === false || process.env["CI"] !== "true", String(missing));
});

describe("a device with a TPM", { skip: missing }, () => {
  let harness: ServiceHarness;
  let tpm: SoftwareTpm;
  before(async () => {
    harness = await serviceHarness();
    const folders = {
      folder: path.join(harness.folder, "tpm"),
      vendorFolder: path.join(harness.folder, "vendor"),
    };
    tpm = await startSwtpm({ ...folders, port: await freePort() });
    // The vendor's certificates start at wall-clock time.
    harness.clock.advance(60_000);
    await trustVendor();
  });
  after(async () => {
    await tpm.stop();
    await harness.close();
  });

  async function trustVendor(): Promise<void> {
    const read = tpm.vendorFiles.map(async (name) => readTrustFile(name, await readFile(name)));
    const files = await Promise.all(read);
    await importRoots(harness.running.service, { orgId: harness.org.organisation.id, actor: "test" }, files);
  }
  const printed = () => [...harness.io.out, ...harness.io.err].join("\n");
  const run = (command: string, name: string, ...more: string[]) =>
    harness.io.run(command, "--state", harness.state(name), ...more);
  const enroll = async (name: string, more: { replaces?: string }, ...options: string[]) =>
    await harness.enroll(
      name,
      await harness.newCode(more),
      "--key",
      "tpm",
      "--tpm",
      tpm.location,
      ...options,
    );

  /** No transient objects or sessions are left. */
  async function requireFlushed(): Promise<void> {
    const location = parseTpmLocation(tpm.location);
    assert.ok(location);
    const left = await withTpm(location, async (open) => [
      ...(await usedHandles(open, 0x8000_0000, 0x80ff_ffff)),
      ...(await usedHandles(open, 0x0200_0000, 0x03ff_ffff)),
    ]);
    assert.deepEqual(left, []);
  }

  test("is enrolled with attestation, gets a token over TLS signed by the TPM, and has no private key in its files", async () => {
    assert.equal(await enroll("one", {}), exitCodes.done, printed());
    const record = await readRecord(harness.state("one"));
    assert.equal(record?.attestation, "tpm");
    const files = ["ak.tpm", "current/key.tpm", "device.json"].map((file) =>
      readFile(path.join(harness.state("one"), file), "utf8"),
    );
    assert.ok(!(await Promise.all(files)).join("").includes("PRIVATE KEY"));
    assert.equal(await run("token", "one", "--client-id", harness.clientId), exitCodes.done, printed());
    const { access_token: accessToken } = JSON.parse(harness.io.out.join("\n")) as Record<string, string>;
    const claims = JSON.parse(Buffer.from(accessToken?.split(".")[1] ?? "", "base64url").toString());
    assert.deepEqual([claims.device_id, claims.device_attestation], [record.deviceId, "tpm"]);
    await requireFlushed();
  });

  test("is renewed with its key, and with a new one attested by the TPM", async () => {
    harness.clock.advance(61 * DAY_MS);
    assert.equal(await run("renew", "one"), exitCodes.done, printed());
    assert.match(printed(), /Renewed until/);
    harness.clock.advance(61 * DAY_MS);
    const before = await readFile(path.join(harness.state("one"), "current/key.tpm"), "utf8");
    assert.equal(await run("renew", "one", "--new-key"), exitCodes.done, printed());
    assert.match(printed(), /Renewed until/);
    assert.notEqual(await readFile(path.join(harness.state("one"), "current/key.tpm"), "utf8"), before);
    assert.equal(await run("token", "one", "--client-id", harness.clientId), exitCodes.done, printed());
    await requireFlushed();
  });

  test("one TPM is one device unless a new one replaces it; P-384 is another endorsement key", async () => {
    assert.equal(await enroll("two", {}), exitCodes.failed);
    assert.match(printed(), /ek_already_enrolled/);
    const { deviceId = "" } = (await readRecord(harness.state("one"))) ?? {};
    assert.equal(await enroll("two", { replaces: deviceId }), exitCodes.done, printed());
    assert.equal(await run("status", "one"), exitCodes.revoked, printed());
    assert.equal(await enroll("three", {}, "--ek", "p-384"), exitCodes.done, printed());
    assert.equal(await enroll("four", {}, "--ek", "p-256"), exitCodes.failed);
    assert.match(printed(), /no endorsement certificate for p-256/);
    await requireFlushed();
  });

  test("a state folder copied to a machine with another TPM is useless", async () => {
    const folder = path.join(harness.folder, "tpm2");
    const other = await startSwtpm({ folder, vendorFolder: path.join(harness.folder, "vendor") });
    try {
      const record = await readRecord(harness.state("two"));
      assert.ok(record);
      await writeRecord(harness.state("two"), { ...record, key: { kind: "tpm", tpm: other.location } });
      assert.equal(await run("token", "two", "--client-id", harness.clientId), exitCodes.failed);
      assert.match(printed(), /TPM2_Load \(0x\w+: the key belongs to another TPM/);
    } finally {
      await other.stop();
    }
  });
});
