import assert from "node:assert/strict";
import { test } from "node:test";
import { lastUses } from "./last-uses.ts";

test("writes the newest use once, and retries failed writes", async () => {
  const written: number[] = [];
  const state = { fails: false };
  const uses = lastUses<number>({
    write: async (use) => {
      if (state.fails) throw new Error("no database");
      written.push(use);
    },
    onError: () => {},
  });
  uses.note("a", 1);
  uses.note("a", 2);
  state.fails = true;
  await assert.rejects(uses.flush());
  assert.deepEqual(written, []);
  state.fails = false;
  await uses.flush();
  await uses.flush();
  assert.deepEqual(written, [2]);
  uses.note("a", 3);
  await uses.close();
  assert.deepEqual(written, [2, 3]);
});

test("keeps a use that is noted during a write", async () => {
  const written: number[] = [];
  const uses = lastUses<number>({
    write: async (use) => {
      written.push(use);
      if (use === 1) uses.note("a", 2);
    },
    onError: () => {},
  });
  uses.note("a", 1);
  await uses.flush();
  await uses.close();
  assert.deepEqual(written, [1, 2]);
});
