import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { enrolmentQualifyingData, renewalQualifyingData } from "./qualifying-data.ts";

const sha256 = (...parts: readonly (Buffer | string)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
const nonce = Buffer.alloc(32, 1);
const csr = Buffer.from("csr");
const certificate = Buffer.from("certificate");

test("binds an enrolment's attestation to organisation, challenge, nonce and request", () => {
  const expected = sha256("device-enroll-v1\0org\0challenge\0", nonce, sha256(csr));
  assert.deepEqual(enrolmentQualifyingData("org", "challenge", nonce, csr), expected);
});

test("binds a renewal's attestation to organisation, device, certificate and request", () => {
  const expected = sha256("device-renew-v1\0org\0device\0", sha256(certificate), sha256(csr));
  assert.deepEqual(renewalQualifyingData("org", "device", certificate, csr), expected);
});
