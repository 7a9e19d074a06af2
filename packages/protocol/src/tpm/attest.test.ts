import assert from "node:assert/strict";
import { test } from "node:test";
import { mutationsOf } from "../testing/mutations.ts";
import { certify, signTpm, softAk, softDeviceKey, writeSignature } from "../testing/soft-tpm.ts";
import { tpmAlg } from "./algorithms.ts";
import { isSignedBy, readAttest, readSignature, type TpmSignature } from "./attest.ts";
import { TpmError } from "./buffer-reader.ts";

const extraData = Buffer.from("qualifying data");
const key = softDeviceKey();
const ak = softAk();
const { attest, signature } = certify(ak, { name: key.name, extraData });

const fails = (fault: "malformed" | "unsupported", what: () => unknown) =>
  assert.throws(what, (error) => error instanceof TpmError && error.fault === fault);

test("reads the certified name and the qualifying data of an attestation", () => {
  assert.deepEqual(readAttest(attest), { type: "certify", extraData, name: key.name });
  const created = certify(ak, { name: key.name, extraData, type: "creation" });
  assert.equal(readAttest(created.attest).type, "creation");
});

test("rejects a quote, and data without the TPM's magic number", () => {
  fails("unsupported", () => readAttest(certify(ak, { name: key.name, extraData, type: "quote" }).attest));
  fails("unsupported", () => readAttest(Buffer.concat([Buffer.from("00ff55aa", "hex"), attest.subarray(4)])));
  fails("malformed", () => readAttest(Buffer.concat([attest, Buffer.alloc(1)])));
  for (let length = 0; length < attest.length; length++)
    fails("malformed", () => readAttest(attest.subarray(0, length)));
});

test("verifies every signature scheme of attestation keys", () => {
  for (const one of [
    ak,
    softAk({ curve: "P-384", scheme: { alg: tpmAlg.ecdsa, hash: "sha384" } }),
    softAk({ kind: "rsa" }),
    softAk({ kind: "rsa", scheme: { alg: tpmAlg.rsaPss, hash: "sha256" } }),
  ]) {
    const signed = readSignature(certify(one, { name: key.name, extraData }).signature);
    assert.equal(isSignedBy(one.area, attest, signed), false, "of another attestation");
    const written = readSignature(writeSignature(signTpm(one, attest)));
    assert.equal(isSignedBy(one.area, attest, written), true);
  }
});

test("accepts ECDSA values without leading zeros", () => {
  let signed: TpmSignature = signTpm(ak, attest);
  while (!("r" in signed) || signed.r[0] !== 0) signed = signTpm(ak, attest);
  assert.equal(isSignedBy(ak.area, attest, { ...signed, r: signed.r.subarray(1) }), true);
  assert.throws(() => isSignedBy(ak.area, attest, { ...signed, r: Buffer.alloc(33, 1) }), TpmError);
});

test("rejects a valid signature of another scheme than the key's", () => {
  const rsa = softAk({ kind: "rsa" });
  const pss = { ...rsa.area, scheme: { alg: tpmAlg.rsaPss, hash: "sha256" } } as const;
  const right = signTpm(rsa, attest);
  assert.equal(isSignedBy(rsa.area, attest, right), true);
  assert.equal(isSignedBy(pss, attest, right), false);
  assert.equal(isSignedBy({ ...rsa.area, scheme: undefined }, attest, right), false);
  assert.equal(
    isSignedBy({ ...ak.area, scheme: { alg: tpmAlg.ecdsa, hash: "sha384" } }, attest, signTpm(ak, attest)),
    false,
  );
  fails("unsupported", () => readSignature(Buffer.from("0018000400010100010 1".replaceAll(" ", ""), "hex")));
  fails("unsupported", () => readSignature(Buffer.from("001a000b", "hex")));
});

test("rejects any flipped bit in an attestation or a signature with a TPM error", () => {
  const rsa = softAk({ kind: "rsa" });
  const signed = certify(rsa, { name: key.name, extraData });
  for (const [signer, sent] of [
    [ak, { attest, signature }],
    [rsa, signed],
  ] as const) {
    for (const mutation of mutationsOf(sent.signature)) assert.ok(!isAccepted(signer, sent.attest, mutation));
    for (const mutation of mutationsOf(sent.attest)) {
      assert.ok(!isAccepted(signer, mutation, sent.signature));
      try {
        readAttest(mutation);
      } catch (error) {
        assert.ok(error instanceof TpmError, String(error));
      }
    }
  }
});

function isAccepted(signer: typeof ak, message: Buffer, bytes: Buffer): boolean {
  try {
    return isSignedBy(signer.area, message, readSignature(bytes));
  } catch (error) {
    assert.ok(error instanceof TpmError, String(error));
    return false;
  }
}
