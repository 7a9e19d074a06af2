import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { test } from "node:test";
import { mutationsOf } from "../testing/mutations.ts";
import { AK_ATTRIBUTES, softAk, softDeviceKey } from "../testing/soft-tpm.ts";
import { tpmAlg } from "./algorithms.ts";
import { sized, TpmError, unsized } from "./buffer-reader.ts";
import {
  keyAttributes,
  nameOf,
  publicKeyOf,
  readPublicArea,
  readSizedPublic,
  writePublicArea,
} from "./public-area.ts";

/** As device-identity.md §5 has it: the AK that tpm2_createak makes. */
const AK_HEAD = "0058 0023 000b 00050072 0000 0010 0018 000b 0003 0010".replaceAll(" ", "");

const spki = (key: ReturnType<typeof createPublicKey>) => key.export({ format: "der", type: "spki" });
const fails = (fault: "malformed" | "unsupported", what: () => unknown) =>
  assert.throws(what, (error) => error instanceof TpmError && error.fault === fault);

test("writes an ECC attestation key as a TPM does, and reads it back", () => {
  const ak = softAk();
  assert.ok(ak.tpm2b.toString("hex").startsWith(AK_HEAD));
  const area = readSizedPublic(ak.tpm2b);
  assert.equal(area.attributes, AK_ATTRIBUTES);
  assert.deepEqual(area.scheme, { alg: tpmAlg.ecdsa, hash: "sha256" });
  assert.deepEqual(
    spki(publicKeyOf(area)),
    spki(createPublicKey(ak.privateKey.export({ format: "pem", type: "pkcs8" }))),
  );
});

test("writes an RSA key as a TPM does, with either encoding of its exponent", () => {
  const key = softDeviceKey({ kind: "rsa" });
  const area = readSizedPublic(key.tpm2b);
  assert.deepEqual(
    spki(publicKeyOf(area)),
    spki(createPublicKey(key.privateKey.export({ format: "pem", type: "pkcs8" }))),
  );
  assert.ok(area.key.kind === "rsa");
  const spelled = { ...area, key: { ...area.key, exponent: 65_537 } };
  assert.deepEqual(spki(publicKeyOf(spelled)), spki(publicKeyOf(area)));
  fails("unsupported", () => publicKeyOf({ ...area, key: { ...spelled.key, exponent: 3 } }));
});

test("the name is the hash of the area without its size, with the area's nameAlg", () => {
  for (const [nameAlg, head, length] of [
    ["sha256", "000b", 34],
    ["sha384", "000c", 50],
  ] as const) {
    const { area, name } = softAk({ nameAlg });
    assert.equal(name.length, length);
    assert.equal(name.subarray(0, 2).toString("hex"), head);
    assert.deepEqual(nameOf(readPublicArea(area.bytes)), name);
  }
});

test("reads a storage key's cipher and policy, and a template without key values", () => {
  const policy = Buffer.alloc(32, 7);
  const template = writePublicArea({
    nameAlg: "sha256",
    attributes: keyAttributes.restricted | keyAttributes.decrypt,
    authPolicy: policy,
    symmetricBits: 128,
    scheme: undefined,
    key: { kind: "rsa", bits: 2048, exponent: 0, modulus: Buffer.alloc(0) },
  });
  const area = readPublicArea(template);
  assert.equal(area.symmetricBits, 128);
  assert.deepEqual(area.authPolicy, policy);
  fails("malformed", () => publicKeyOf(area));
});

test("accepts a coordinate without leading zeros, and rejects a point off the curve", () => {
  const { area } = softAk();
  assert.ok(area.key.kind === "ecc");
  const { key } = area;
  const long = { ...key, x: Buffer.concat([Buffer.alloc(1), key.x]) };
  fails("malformed", () => publicKeyOf({ ...area, key: long }));
  const off = { ...key, y: Buffer.alloc(32, 1) };
  fails("malformed", () => publicKeyOf({ ...area, key: off }));
  let short = area;
  // One key in 256 has one: its x begins with a zero.
  while (short.key.kind !== "ecc" || short.key.x[0] !== 0) short = softAk().area;
  const stripped = { ...short, key: { ...short.key, x: short.key.x.subarray(1) } };
  assert.deepEqual(spki(publicKeyOf(stripped)), spki(publicKeyOf(short)));
});

test("distinguishes trailing, truncated and unsupported data", () => {
  const { tpm2b, area } = softAk();
  fails("malformed", () => readSizedPublic(Buffer.concat([tpm2b, Buffer.alloc(1)])));
  fails("malformed", () => readPublicArea(Buffer.concat([area.bytes, Buffer.alloc(1)])));
  for (let length = 0; length < tpm2b.length; length++)
    fails("malformed", () => readSizedPublic(tpm2b.subarray(0, length)));
  const changed = (at: number, hex: string) => {
    const bytes = unsized(tpm2b);
    const copy = Buffer.from(bytes);
    Buffer.from(hex, "hex").copy(copy, at);
    return sized(copy);
  };
  for (const [what, at, hex] of [
    ["a keyed hash", 0, "0008"],
    ["a name by SHA-1", 2, "0004"],
    ["a signature by SHA-1", 14, "0004"],
    ["a curve of 224 bits", 16, "0002"],
  ] as const)
    assert.throws(() => readSizedPublic(changed(at, hex)), { name: "TpmError", fault: "unsupported" }, what);
});

test("a flipped bit in a public area throws a TPM error only", () => {
  for (const { tpm2b } of [softAk(), softDeviceKey({ kind: "rsa" }), softAk({ curve: "P-384" })])
    for (const mutation of mutationsOf(tpm2b))
      try {
        publicKeyOf(readSizedPublic(mutation));
      } catch (error) {
        assert.ok(error instanceof TpmError, String(error));
      }
});
