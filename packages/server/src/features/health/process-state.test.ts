import assert from "node:assert/strict";
import { test } from "node:test";
import { watchProcess } from "./process-state.ts";

test("an event loop that stood still is told for a while", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const state = watchProcess(() => 0);
  now = 5_000;
  assert.equal(state.isStuck(), false, "slow, as every busy process once");
  now = 12_000;
  assert.equal(state.isStuck(), true);
  now = 18_000;
  assert.equal(state.isStuck(), true);
  for (; now < 60_000; now += 1_000) state.isStuck();
  assert.equal(state.isStuck(), false);
  state.close();
});
