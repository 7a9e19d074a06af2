/** The real thing, or as near as a machine without one gets: swtpm for the TPMs, and tpm2-tools on the device's side. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { type SoftwareTpm, startSwtpm, swtpmMissing } from "@signet/device-client/testing/swtpm";
import { enrolmentQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import { forEachDatabase } from "../../../testing/databases.ts";
import { refused, type TpmFixture, tpmFixture } from "../../../testing/fixtures/tpm-fixture.ts";
import { freePort } from "../../../testing/free-port.ts";
import {
  p384Ek,
  rsaEk,
  type ToolsEk,
  type Tpm2Tools,
  tpm2Tools,
  tpm2ToolsMissing,
} from "../../../testing/tpm2-tools.ts";

/** On PostgreSQL too: SIGNET_TEST_WHOLE=1. */
const whole = process.env["SIGNET_TEST_WHOLE"] === "1";
const missing = (await swtpmMissing()) || (await tpm2ToolsMissing());

test("swtpm and tpm2-tools are installed where required", () => {
  assert.ok(missing === false || process.env["CI"] !== "true", String(missing));
});

interface ToolsTpm {
  readonly swtpm: SoftwareTpm;
  readonly tools: Tpm2Tools;
}

describe("tpm2-tools and swtpm", { skip: missing }, () => {
  let folder: string;
  /** The first two of one vendor, the third of another. */
  let tpms: readonly ToolsTpm[] = [];
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-tpm-"));
    const vendors = ["one", "one", "other"];
    for (const [index, vendor] of vendors.entries()) {
      const where = { folder: path.join(folder, `tpm${index}`), vendorFolder: path.join(folder, vendor) };
      tpms = [...tpms, await started(where)];
    }
  });
  after(async () => {
    await Promise.all(tpms.map(({ swtpm }) => swtpm.stop()));
    await rm(folder, { recursive: true, force: true });
  });

  /** Another test may take a port between the look and the start. */
  async function started(where: { folder: string; vendorFolder: string }, tries = 3): Promise<ToolsTpm> {
    const port = await freePort(2);
    try {
      const swtpm = await startSwtpm({ ...where, port, hasControl: true });
      return { swtpm, tools: tpm2Tools(where.folder, port) };
    } catch (error) {
      if (tries <= 1) throw error;
      return started(where, tries - 1);
    }
  }

  const tpm = (index: number): ToolsTpm => tpms[index] ?? assert.fail("no TPM");

  const begin = async (fixture: TpmFixture, { swtpm, tools }: ToolsTpm, ek: ToolsEk, code: string) => {
    const [, issuing = ""] = swtpm.vendorFiles;
    const chain = new X509Certificate(await readFile(issuing)).raw;
    return fixture.call("begin", {
      code,
      ek_certificate: (await tools.ekCertificate(ek)).toString("base64"),
      ek_chain: [chain.toString("base64")],
      ak_public: (await tools.makeAk(ek)).toString("base64"),
    });
  };
  const bytes = (body: Readonly<Record<string, unknown>>, member: string) =>
    Buffer.from(String(body[member]), "base64");

  const enrol = async (fixture: TpmFixture, of: ToolsTpm, ek: ToolsEk, code: string) => {
    const { status, body } = await begin(fixture, of, ek, code);
    assert.equal(status, 200, JSON.stringify(body));
    const { tools } = of;
    const secret = await tools.activate(ek, bytes(body, "credential_blob"), bytes(body, "encrypted_secret"));
    const keyPublic = await tools.makeKey();
    const csr = await tools.csr();
    const challengeId = String(body["challenge_id"]);
    const qualifyingData = enrolmentQualifyingData(fixture.orgId, challengeId, bytes(body, "nonce"), csr);
    const { attest, signature } = await tools.certifyCreation(qualifyingData);
    return fixture.call("complete", {
      challenge_id: challengeId,
      secret: secret.toString("base64"),
      csr: csr.toString("base64"),
      key_public: keyPublic.toString("base64"),
      attest: attest.toString("base64"),
      signature: signature.toString("base64"),
    });
  };

  forEachDatabase(({ name, fresh }) => {
    // What the database makes of it is tested with TPMs in software.
    if (name !== "sqlite" && !whole) return;
    let fixture: TpmFixture;
    before(async () => {
      fixture = await tpmFixture(await fresh());
      const [root = ""] = tpm(0).swtpm.vendorFiles;
      await fixture.believe(await readFile(root));
    });
    after(() => fixture.close());

    test("enrols two TPMs of one vendor by RSA and P-384 endorsement keys", async () => {
      for (const [of, ek] of [
        [tpm(0), rsaEk],
        [tpm(1), p384Ek],
      ] as const) {
        const told = await enrol(fixture, of, ek, await fixture.newCode());
        assert.deepEqual([told.status, told.body["attestation"]], [201, "tpm"], JSON.stringify(told.body));
      }
      refused(await begin(fixture, tpm(0), rsaEk, await fixture.newCode()), 409, "ek_already_enrolled");
    });

    test("rejects a TPM of another vendor until its root is imported", async () => {
      const code = await fixture.newCode();
      refused(await begin(fixture, tpm(2), rsaEk, code), 403, "ek_untrusted");
      const [root = ""] = tpm(2).swtpm.vendorFiles;
      await fixture.believe(await readFile(root));
      assert.equal((await enrol(fixture, tpm(2), rsaEk, code)).status, 201);
    });

    test("a secret encrypted for one TPM can't be decrypted by another", async () => {
      // By the P-384 key: under another RSA key libtpms 0.9 stops for good instead of refusing.
      const { body } = await begin(fixture, tpm(0), p384Ek, await fixture.newCode());
      const hidden = [bytes(body, "credential_blob"), bytes(body, "encrypted_secret")] as const;
      await tpm(1).tools.makeAk(p384Ek);
      await assert.rejects(tpm(1).tools.activate(p384Ek, ...hidden), /integrity check failed/);
      // Nor does the right one, once another key has taken the place of the AK.
      await tpm(0).tools.makeAk(p384Ek);
      await assert.rejects(tpm(0).tools.activate(p384Ek, ...hidden), /integrity check failed/);
    });
  });
});
