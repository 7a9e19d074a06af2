import assert from "node:assert/strict";
import { test } from "node:test";
import { shardedEncryption } from "./encryption.ts";
import { keyRing } from "./key-ring.ts";

const key = Buffer.alloc(32, 7);
const rowOf = (number: number) => `signing-request|org|${number}|claims`;

test("each row decrypts with its own key on every node, and with no other row's or purpose's", () => {
  const here = shardedEncryption(keyRing(key), "x");
  const there = shardedEncryption(keyRing(key), "x");
  for (let number = 0; number < 200; number++) {
    const sealed = here.seal(Buffer.from(`text ${number}`), rowOf(number));
    assert.equal(there.open(sealed, rowOf(number)).toString(), `text ${number}`);
    assert.throws(() => there.open(sealed, rowOf(number + 1)));
    assert.throws(() => shardedEncryption(keyRing(key), "y").open(sealed, rowOf(number)));
  }
});
