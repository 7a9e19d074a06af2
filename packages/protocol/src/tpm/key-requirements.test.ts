import assert from "node:assert/strict";
import { test } from "node:test";
import { AK_ATTRIBUTES, DEVICE_KEY_ATTRIBUTES, softAk, softDeviceKey } from "../testing/soft-tpm.ts";
import { tpmAlg } from "./algorithms.ts";
import { hasAttestationAlgorithm, isAttestationKey, isDeviceKey } from "./key-requirements.ts";
import { keyAttributes } from "./public-area.ts";

const { fixedTpm, fixedParent, sensitiveDataOrigin, restricted, decrypt, sign } = keyAttributes;

test("requires an attestation key to be fixed to its TPM, restricted and for signing only", () => {
  const { area } = softAk();
  assert.ok(isAttestationKey(area));
  for (const missing of [fixedTpm, fixedParent, sensitiveDataOrigin, restricted, sign])
    assert.ok(!isAttestationKey({ ...area, attributes: AK_ATTRIBUTES & ~missing }), missing.toString(16));
  assert.ok(!isAttestationKey({ ...area, attributes: AK_ATTRIBUTES | decrypt }));
});

test("requires a device key to be fixed to its TPM, unrestricted and for signing only", () => {
  const { area } = softDeviceKey();
  assert.ok(isDeviceKey(area));
  for (const missing of [fixedTpm, fixedParent, sensitiveDataOrigin, sign])
    assert.ok(!isDeviceKey({ ...area, attributes: DEVICE_KEY_ATTRIBUTES & ~missing }), missing.toString(16));
  for (const added of [restricted, decrypt])
    assert.ok(!isDeviceKey({ ...area, attributes: DEVICE_KEY_ATTRIBUTES | added }), added.toString(16));
});

test("requires a SHA-2 signature scheme and a sufficient key size of an attestation key", () => {
  const ecc = softAk().area;
  const rsa = softAk({ kind: "rsa" }).area;
  const hash = "sha256";
  assert.ok(rsa.key.kind === "rsa");
  for (const [area, expected] of [
    [ecc, true],
    [rsa, true],
    [{ ...rsa, scheme: { alg: tpmAlg.rsaPss, hash } }, true],
    [{ ...ecc, scheme: undefined }, false],
    [{ ...ecc, scheme: { alg: tpmAlg.ecdh, hash } }, false],
    [{ ...ecc, scheme: { alg: tpmAlg.rsaSsa, hash } }, false],
    [{ ...rsa, scheme: { alg: tpmAlg.oaep, hash } }, false],
    [{ ...rsa, scheme: { alg: tpmAlg.rsaEs, hash: undefined } }, false],
    [{ ...rsa, key: { ...rsa.key, bits: 1024 } }, false],
  ] as const)
    assert.equal(hasAttestationAlgorithm(area), expected);
});
