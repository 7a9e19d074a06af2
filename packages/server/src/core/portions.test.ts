import assert from "node:assert/strict";
import { test } from "node:test";
import { turnsDuring } from "../testing/probes/loop-turns.ts";
import { atOnce, eachOf, inPortions, type Work } from "./portions.ts";

/** Longer than a portion. */
function busy(): void {
  for (const end = performance.now() + 12; performance.now() < end; );
}

function* pieces(count: number): Work<number> {
  for (let piece = 0; piece < count; piece++) {
    busy();
    yield;
  }
  return count;
}

test("others have their turn between long pieces of work, and none of them when it is done at once", async () => {
  assert.ok((await turnsDuring(() => inPortions(pieces(10)))) >= 10);
  assert.ok((await turnsDuring(async () => atOnce(pieces(10)))) <= 1);
});

test("both ways have the same result, in order, and throw what a piece throws", async () => {
  const items = ["a", "b", "c"];
  const named = () => eachOf(items, (item, index) => `${item}${index}`);
  assert.deepEqual(atOnce(named()), ["a0", "b1", "c2"]);
  assert.deepEqual(await inPortions(named()), ["a0", "b1", "c2"]);
  const failing = () =>
    eachOf(items, (item) => {
      if (item === "b") throw new Error("no b");
    });
  assert.throws(() => atOnce(failing()), /no b/);
  await assert.rejects(inPortions(failing()), /no b/);
});
