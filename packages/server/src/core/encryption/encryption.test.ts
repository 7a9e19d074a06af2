import assert from "node:assert/strict";
import { test } from "node:test";
import { createEncryption } from "./encryption.ts";
import { deriveKey, keyRing } from "./key-ring.ts";

const key = Buffer.alloc(32, 7);

test("decrypts for the same row only, and never produces the same ciphertext twice", () => {
  const encryption = createEncryption(keyRing(key));
  const first = encryption.seal(Buffer.from("private"), "signing-key|a|1");
  assert.equal(encryption.open(first, "signing-key|a|1").toString(), "private");
  assert.notEqual(encryption.seal(Buffer.from("private"), "signing-key|a|1"), first);
  assert.ok(!first.includes("private"));
});

test("rejects another row, organisation or key, and any modified byte", () => {
  const encryption = createEncryption(keyRing(key));
  const sealed = encryption.seal(Buffer.from("private"), "signing-key|a|1");
  assert.throws(() => encryption.open(sealed, "signing-key|b|1"));
  assert.throws(() => createEncryption(keyRing(Buffer.alloc(32, 8))).open(sealed, "signing-key|a|1"));
  const bytes = Buffer.from(sealed.slice(3), "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes);
    altered[at] = (altered[at] ?? 0) ^ 1;
    assert.throws(() => encryption.open(`v1.${altered.toString("base64url")}`, "signing-key|a|1"));
  }
  for (const nonsense of ["", "v1.", "v2.AAAA", "v1.AAAA", sealed.slice(0, 20)]) {
    assert.throws(() => encryption.open(nonsense, "signing-key|a|1"));
  }
});

test("derives a key per purpose, and rejects a short master key", () => {
  assert.notDeepEqual(deriveKey(key, "csrf"), deriveKey(key, "flow"));
  assert.throws(() => deriveKey(Buffer.alloc(16), "csrf"));
});
