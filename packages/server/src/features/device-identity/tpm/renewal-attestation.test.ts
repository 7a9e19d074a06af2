import assert from "node:assert/strict";
import { test } from "node:test";
import { readCsr } from "@signet/protocol/csr/csr";
import { makeKeyCsr } from "@signet/protocol/csr/make-csr";
import { certify, type SoftKey, softAk, softDeviceKey } from "@signet/protocol/testing/soft-tpm";
import { enrolmentQualifyingData, renewalQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import type { Device, DeviceCertificate } from "../../../core/devices/device.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { requireRenewalAttestation } from "../enrol/renewal-evidence.ts";

const ak = softAk();
const kept = softDeviceKey();
const device: Device = {
  orgId: "org",
  id: "device",
  name: "Till",
  attestation: "tpm",
  ekHash: "hash",
  akPublic: ak.area.bytes.toString("base64"),
  enrolledAt: 0,
  revokedAt: null,
  revokedReason: null,
  lastSeenAt: null,
};
const certificate: DeviceCertificate = {
  orgId: "org",
  fingerprint: "",
  deviceId: "device",
  generation: 1,
  serial: "",
  keyHash: "",
  der: Buffer.from("current"),
  notBefore: 0,
  notAfter: 1,
  issuedAt: 0,
  supersededAt: null,
  revokedAt: null,
};
const text = (key: SoftKey) => key.area.bytes.toString("base64");

interface Changed {
  readonly signer?: SoftKey;
  readonly extraData?: Buffer;
  readonly keyPublic?: SoftKey | null;
  readonly stored?: SoftKey;
  readonly csrKey?: SoftKey;
}

async function renew(key: SoftKey, changed: Changed = {}): Promise<string> {
  const csr = readCsr((await makeKeyCsr((changed.csrKey ?? key).privateKey)).toString("base64"));
  const extraData = changed.extraData ?? renewalQualifyingData("org", "device", certificate.der, csr.der);
  const { attest, signature } = certify(changed.signer ?? ak, { name: key.name, extraData });
  const sent = changed.keyPublic === undefined ? key : changed.keyPublic;
  return requireRenewalAttestation({
    device,
    certificate,
    csr,
    attest: attest.toString("base64"),
    signature: signature.toString("base64"),
    keyPublic: sent?.tpm2b.toString("base64"),
    storedKeyPublic: changed.stored && text(changed.stored),
  });
}

const refused = (work: Promise<unknown>, code: string) =>
  assert.rejects(work, (error) => error instanceof CodedError && error.code === code);

test("accepts a new key certified by the device's AK, and stores its public area", async () => {
  const key = softDeviceKey();
  assert.equal(await renew(key), text(key));
});

test("checks a retained key against the enrolled one", async () => {
  assert.equal(await renew(kept, { stored: kept, keyPublic: null }), text(kept));
  assert.equal(await renew(kept, { stored: kept }), text(kept));
  await refused(renew(softDeviceKey(), { stored: kept }), "attest_name");
  await refused(renew(softDeviceKey(), { stored: kept, keyPublic: null }), "attest_name");
});

test("rejects another AK, certificate, qualifying data or CSR", async () => {
  const key = softDeviceKey();
  await refused(renew(key, { signer: softAk() }), "attest_signature");
  const other = renewalQualifyingData("org", "device", Buffer.from("another"), Buffer.from("csr"));
  await refused(renew(key, { extraData: other }), "attest_nonce");
  const enrolment = enrolmentQualifyingData("org", "device", Buffer.alloc(32), Buffer.from("csr"));
  await refused(renew(key, { extraData: enrolment }), "attest_nonce");
  await refused(renew(key, { csrKey: softDeviceKey() }), "csr_key_mismatch");
  await refused(renew(key, { keyPublic: null }), "invalid_request");
});
