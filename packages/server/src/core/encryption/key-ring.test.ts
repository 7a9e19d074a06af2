import assert from "node:assert/strict";
import { test } from "node:test";
import { createEncryption } from "./encryption.ts";
import { deriveKeys, firstOf, isOfRing, type KeyRing, type Keys, keyRing } from "./key-ring.ts";

const old = Buffer.alloc(32, 1);
const next = Buffer.alloc(32, 2);

/** A ring that another process changes; `refresh` takes the change over. */
function changingRing(
  ...first: [Buffer, ...Buffer[]]
): KeyRing & { change(...keys: [Buffer, ...Buffer[]]): void } {
  let keys: Keys = first;
  let later: Keys | undefined;
  return {
    all: () => keys,
    refresh: () => {
      if (!later) return false;
      keys = later;
      later = undefined;
      return true;
    },
    change: (...changed) => {
      later = changed;
    },
  };
}

test("what the key before sealed is opened, and sealed anew under the key in use", () => {
  const sealed = createEncryption(keyRing(old)).seal(Buffer.from("private"), "row");
  const both = createEncryption(keyRing(next, old));
  assert.equal(both.open(sealed, "row").toString(), "private");
  const renewed = both.renew(sealed, "row");
  assert.ok(renewed !== undefined && renewed !== sealed);
  assert.equal(createEncryption(keyRing(next)).open(renewed, "row").toString(), "private");
  assert.equal(both.renew(renewed, "row"), undefined, "it is already");
  assert.throws(() => both.renew(sealed, "another row"), /no master key/);
  assert.throws(() => createEncryption(keyRing(next)).open(sealed, "row"), /no master key/);
});

test("the first key seals", () => {
  const sealed = createEncryption(keyRing(next, old)).seal(Buffer.from("private"), "row");
  assert.equal(createEncryption(keyRing(next)).open(sealed, "row").toString(), "private");
  assert.throws(() => createEncryption(keyRing(old)).open(sealed, "row"));
});

test("a process takes over a key that another has made: as soon as something doesn't open", () => {
  const ring = changingRing(old);
  const encryption = createEncryption(ring);
  encryption.seal(Buffer.from("x"), "row");
  ring.change(next, old);
  const elsewhere = createEncryption(keyRing(next)).seal(Buffer.from("private"), "row");
  assert.equal(encryption.open(elsewhere, "row").toString(), "private");
  const mine = encryption.seal(Buffer.from("mine"), "row");
  assert.equal(createEncryption(keyRing(next)).open(mine, "row").toString(), "mine");
});

test("keys are derived in the order of their master keys, and again when those change", () => {
  const ring = changingRing(old);
  const derived = deriveKeys(ring, "csrf");
  const [first] = derived.all();
  assert.equal(derived.all(), derived.all(), "the same array");
  ring.change(next, old);
  assert.ok(derived.refresh());
  assert.deepEqual(derived.all()[1], first);
  assert.notDeepEqual(derived.all()[0], first);
});

test("every key of the ring is tried, and none twice", () => {
  const tried: number[] = [];
  const attempt = (key: Buffer) => {
    tried.push(key[0] ?? 0);
    return undefined;
  };
  assert.equal(firstOf(keyRing(next, old), attempt), undefined);
  assert.deepEqual(tried, [2, 1]);
  assert.equal(
    isOfRing(keyRing(next, old), (key) => key.equals(old)),
    true,
  );
  assert.equal(
    isOfRing(keyRing(next), (key) => key.equals(old)),
    false,
  );
});
