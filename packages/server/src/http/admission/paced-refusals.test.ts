import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { EACH_TURN, pacedRefusals } from "./paced-refusals.ts";

/** How many are sent in each turn of the event loop. */
async function sentByTurn(count: number): Promise<number[]> {
  const { add } = pacedRefusals();
  const sent: number[] = [];
  for (let number = 0; number < count; number++) add(() => sent.push(number));
  const turns: number[] = [];
  for (let before = 0; before < count; before = sent.length) {
    assert.equal(sent.length, before, "none before the end of a turn");
    await turn();
    turns.push(sent.length - before);
  }
  assert.deepEqual(
    sent,
    sent.toSorted((one, other) => one - other),
  );
  return turns;
}

test("so many refusals are sent at the end of each turn, the oldest first", async () => {
  assert.deepEqual(await sentByTurn(2 * EACH_TURN + 1), [EACH_TURN, EACH_TURN, 1]);
});

test("more are sent where very many wait", async () => {
  const [first = 0] = await sentByTurn(24 * EACH_TURN);
  assert.equal(first, 2 * EACH_TURN);
});
