import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { softEk } from "@signet/protocol/testing/soft-tpm";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { openDatabase } from "../../db/open.ts";
import {
  type OperatorSettings,
  operatorSettings,
  runForJson,
  runInProcess,
} from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { ekCertificate, softVendor } from "../../testing/fakes/soft-tpm-device.ts";

interface Root {
  readonly sha256: string;
  readonly subject: string;
}

interface Ek {
  readonly sha256: string;
  readonly label: string;
}

const vendor = softVendor();
const DAY_MS = 86_400_000;

describe("signet device-policy, device-roots, ek-allow", () => {
  forEachDatabase(({ fresh }) => {
    let settings: OperatorSettings;
    let folder: string;
    let databaseUrl: string;
    let org: string;
    let other: string;
    const json = <Answer>(...args: string[]) => runForJson<Answer>([...args, "--org", org], settings.env);
    const typed = (...args: string[]) => runInProcess([...args, "--org", org], settings.env);
    const listed = (id = org) =>
      runForJson<{ items: Root[] }>(["device-roots", "list", "--org", id], settings.env);
    const file = async (name: string, content: string | Buffer): Promise<string> => {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    };

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "signet-trust-"));
      databaseUrl = await fresh();
      settings = await operatorSettings(databaseUrl);
      const made = async (name: string) =>
        (await runForJson<{ id: string }>(["org", "create", "--name", name], settings.env)).id;
      org = await made("Acme");
      other = await made("Other");
    });
    after(async () => {
      await settings.remove();
      await rm(folder, { recursive: true, force: true });
    });

    test("changes attestation and EK trust separately or together", async () => {
      const show = () => json("device-policy", "show");
      assert.deepEqual(await show(), { attestation: "optional", ekTrust: "chain" });
      const set = await json("device-policy", "set", "--attestation", "Required");
      assert.deepEqual(set, { attestation: "required", ekTrust: "chain" });
      await json("device-policy", "set", "--attestation", "none", "--ek-trust", "both");
      assert.deepEqual(await show(), { attestation: "none", ekTrust: "both" });
      assert.match((await typed("device-policy", "show")).out, /^attestation {2}none$/m);
      for (const args of [[], ["--attestation", "always"], ["--ek-trust", "none"]])
        assert.equal((await typed("device-policy", "set", ...args)).code, 2, args.join(" "));
    });

    test("imports roots from PEM and DER, several per file, once each, for one organisation", async () => {
      const pem = await file("vendor.pem", `the vendor's\n${vendor.root.pem}\n${vendor.issuing.pem}`);
      const der = await file("root.der", vendor.root.der);
      assert.match((await typed("device-roots", "list")).out, /No trusted roots yet/);
      const first = await json<{ imported: Root[]; known: number }>("device-roots", "import", pem, der);
      assert.deepEqual([first.imported.length, first.known], [2, 1]);
      const { items } = await listed();
      const fingerprint = new X509Certificate(vendor.root.der).fingerprint256;
      assert.ok(items.some(({ sha256 }) => sha256 === fingerprint.replaceAll(":", "").toLowerCase()));
      assert.deepEqual(items.map(({ subject }) => subject).sort(), ["CN=Vendor issuing", "CN=Vendor root"]);
      assert.deepEqual((await listed(other)).items, []);
      assert.match((await typed("device-roots", "import", der)).out, /Already present: 1\./);
      assert.match((await typed("device-roots", "remove", fingerprint)).out, / removed\./);
      assert.equal((await typed("device-roots", "remove", fingerprint)).code, 1);
      assert.equal((await typed("device-roots", "remove", "-x")).code, 2);
      assert.equal((await listed()).items.length, 1);
    });

    test("rejects a file with a non-CA certificate, and imports nothing", async () => {
      const before = (await listed()).items;
      const past = { validFrom: new Date(Date.now() - 2 * DAY_MS), validTo: new Date(Date.now() - DAY_MS) };
      const good = testCertificate({ subject: "Good", isCa: true }).pem;
      const wrong: ReadonlyArray<readonly [string, string | Buffer, RegExp]> = [
        [
          "leaf.pem",
          testCertificate({ subject: "Leaf" }).pem,
          /certificate 2 is not a certificate authority/,
        ],
        [
          "old.pem",
          testCertificate({ subject: "Old", isCa: true, ...past }).pem,
          /certificate 2 has expired/,
        ],
        ["nosign.pem", testCertificate({ subject: "x", isCa: true, keyUsage: [0] }).pem, /may not sign/],
        ["broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", /is malformed/],
        ["cut.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n", /unterminated/],
        ["key.pem", keyPem("P-256"), /is not a certificate/],
        ["secret.pem", privatePem(), /unsupported "PRIVATE KEY"/],
      ];
      for (const [name, content, reason] of wrong) {
        const { code, err } = await typed("device-roots", "import", await file(name, `${good}${content}`));
        assert.deepEqual([code, reason.test(err)], [1, true], `${name}: ${err}`);
      }
      const { err } = await typed("device-roots", "import", await file("large.pem", Buffer.alloc(5e6)));
      assert.match(err, /larger than 4 MiB/);
      assert.match((await typed("device-roots", "import", folder)).err, /not a file/);
      assert.match((await typed("device-roots", "import", join(folder, "none"))).err, /none/);
      assert.equal((await typed("device-roots", "import")).code, 2, "without a file");
      assert.deepEqual((await listed()).items, before);
    });

    test("adds endorsement keys by certificate or public key, without duplicates", async () => {
      const ek = softEk("p384");
      const stored = Buffer.concat([ekCertificate(vendor, ek).der, Buffer.alloc(20, 0xff)]);
      const der = await file("ek.der", stored);
      const same = createPublicKey(ek.export({ format: "pem", type: "pkcs8" }));
      const keys = `${same.export({ format: "pem", type: "spki" })}${keyPem("P-256")}`;
      const pem = await file("keys.pem", keys);
      const added = await json<{ added: Ek[] }>("ek-allow", "add", der);
      assert.deepEqual(
        added.added.map(({ label }) => label),
        ["ek.der"],
      );
      const more = await json<{ added: Ek[]; known: number }>("ek-allow", "add", pem, "--label", "Order 1");
      assert.deepEqual([more.added.length, more.known, more.added[0]?.label], [1, 1, "Order 1"]);
      const [first] = added.added;
      assert.match((await typed("ek-allow", "list")).out, new RegExp(`^${first?.sha256} .* ek.der$`, "m"));
      assert.match((await typed("ek-allow", "remove", first?.sha256 ?? "")).out, / removed\./);
      assert.equal((await typed("ek-allow", "remove", first?.sha256 ?? "")).code, 1);
      const { items } = await json<{ items: Ek[] }>("ek-allow", "list");
      assert.deepEqual(items, more.added);
    });

    test("rejects a file without an endorsement key, and adds nothing", async () => {
      const before = await json("ek-allow", "list");
      for (const [name, content, reason] of [
        ["ca.der", vendor.issuing.der, /authority/],
        ["leaf.pem", testCertificate({ subject: "Leaf" }).pem, /key usage/],
        ["p521.pem", keyPem("P-521"), /neither an EK certificate nor a public key/],
        ["text.txt", "nonsense", /neither an EK certificate/],
      ] as const) {
        const paths = [await file("good.pem", keyPem("P-256")), await file(name, content)];
        const { code, err } = await typed("ek-allow", "add", ...paths);
        assert.deepEqual([code, reason.test(err)], [1, true], `${name}: ${err}`);
      }
      assert.deepEqual(await json("ek-allow", "list"), before);
    });

    test("audits every change with actor and target", async () => {
      const database = openDatabase(databaseUrl);
      try {
        const events = await listAuditEvents(database.query, org, 100);
        const told = new Set(events.map(({ actor, action }) => `${actor} ${action}`));
        for (const action of [
          "device-root.imported",
          "device-root.removed",
          "device-ek.allowed",
          "device-ek.removed",
        ])
          assert.ok(told.has(`operator ${action}`), action);
      } finally {
        await database.close();
      }
    });
  });
});

const keyPem = (namedCurve: string): string =>
  generateKeyPairSync("ec", { namedCurve }).publicKey.export({ format: "pem", type: "spki" }).toString();

const privatePem = (): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256" })
    .privateKey.export({ format: "pem", type: "pkcs8" })
    .toString();
