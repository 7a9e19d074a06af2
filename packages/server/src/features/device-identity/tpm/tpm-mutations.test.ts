import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readCsr } from "@signet/protocol/csr/csr";
import { mutationsOf } from "@signet/protocol/testing/mutations";
import { enrolmentQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import { CodedError } from "../../../http/coded-error.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import {
  beginBody,
  completeBody,
  softTpmDevice,
  softVendor,
} from "../../../testing/fakes/soft-tpm-device.ts";
import { type TpmFixture, tpmFixture } from "../../../testing/fixtures/tpm-fixture.ts";
import { parseDeviceKey, requireAttestedKey } from "./attested-key.ts";
import { parseAttestationKey, presentedEk } from "./tpm-members.ts";

/** Every bit over HTTP too: SIGNET_TEST_WHOLE=1. */
const whole = process.env["SIGNET_TEST_WHOLE"] === "1";
const base64 = (bytes: Buffer) => bytes.toString("base64");

const isRefused = (work: () => unknown): boolean => {
  try {
    work();
    return false;
  } catch (error) {
    assert.ok(error instanceof CodedError && error.status < 500, String(error));
    return true;
  }
};

test("rejects every flipped bit of the evidence with an error code", async () => {
  const device = softTpmDevice(softVendor());
  const begun = { challengeId: "challenge", nonce: Buffer.alloc(32, 1), secret: Buffer.alloc(32, 2) };
  const sent = await completeBody(device, "org", begun);
  const csr = readCsr(sent.csr);
  const check = (changed: { [Name in "attest" | "signature" | "key_public"]?: string }) => {
    const { attest, signature, key_public } = { ...sent, ...changed };
    const qualifyingData = enrolmentQualifyingData("org", begun.challengeId, begun.nonce, csr.der);
    const keyPublic = () => parseDeviceKey(key_public);
    return requireAttestedKey({ ak: device.ak.area, attest, signature, qualifyingData, keyPublic, csr });
  };
  assert.ok(check({}).bytes.equals(device.key.area.bytes));
  for (const member of ["attest", "signature", "key_public"] as const)
    for (const mutation of mutationsOf(Buffer.from(sent[member], "base64")))
      assert.ok(
        isRefused(() => check({ [member]: base64(mutation) })),
        `${member} ${base64(mutation)}`,
      );
});

test("reports every flipped bit of a certificate or attestation key as a known error", () => {
  const vendor = softVendor();
  for (const kind of ["p256", "rsa2048"] as const) {
    const { ekCertificate, ak } = softTpmDevice(vendor, kind);
    for (const mutation of mutationsOf(ekCertificate, whole ? 1 : 11))
      isRefused(() => presentedEk({ certificate: base64(mutation), chain: [] }));
    for (const mutation of mutationsOf(ak.tpm2b)) isRefused(() => parseAttestationKey(base64(mutation)));
  }
});

forEachDatabase(({ name, fresh }) => {
  // What is mutated never gets as far as the database.
  if (name !== "sqlite" && !whole) return;
  let fixture: TpmFixture;
  before(async () => {
    fixture = await tpmFixture(await fresh());
  });
  after(() => fixture.close());

  test("answers flipped bits over HTTP with a client error", async () => {
    const device = softTpmDevice(fixture.vendor);
    const body = beginBody(device, await fixture.newCode());
    for (const mutation of mutationsOf(device.ekCertificate, whole ? 1 : 173)) {
      const { status } = await fixture.call("begin", { ...body, ek_certificate: base64(mutation) });
      assert.ok([400, 403].includes(status), `${status} ${base64(mutation)}`);
    }
    for (const mutation of mutationsOf(device.ak.tpm2b, whole ? 1 : 37)) {
      const { status } = await fixture.call("begin", { ...body, ak_public: base64(mutation) });
      assert.ok([200, 400].includes(status), `${status} ${base64(mutation)}`);
    }
  });

  test("enrols nobody with altered evidence", async () => {
    const device = softTpmDevice(fixture.vendor);
    const code = await fixture.newCode();
    for (const member of ["secret", "csr", "key_public", "attest", "signature"] as const) {
      const honest = await fixture.answer(device, code);
      const bits = Buffer.from(honest[member], "base64").length * 8;
      for (let bit = 0; bit < bits; bit += whole ? 1 : 311) {
        const sent = await fixture.answer(device, code);
        const bytes = Buffer.from(sent[member], "base64");
        // An ECDSA signature is a byte shorter now and then.
        const at = (bit >> 3) % bytes.length;
        bytes[at] = (bytes[at] ?? 0) ^ (0x80 >> (bit & 7));
        const { status } = await fixture.call("complete", { ...sent, [member]: base64(bytes) });
        assert.ok([400, 403].includes(status), `${member}, bit ${bit}: ${status}`);
      }
    }
    assert.equal((await fixture.enrol(device, code)).status, 201);
  });
});
