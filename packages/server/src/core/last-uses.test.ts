import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
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

test("closing waits for a flush that is under way", async () => {
  let isOpen = true;
  let writes = 0;
  const uses = lastUses<number>({
    write: async () => {
      if (++writes === 1) await setTimeout(20);
      assert.ok(isOpen, "written after the database was closed");
    },
    onError: () => {},
  });
  for (const [at, key] of ["a", "b"].entries()) uses.note(key, at);
  const underWay = uses.flush();
  await uses.close();
  isOpen = false;
  await underWay;
});
