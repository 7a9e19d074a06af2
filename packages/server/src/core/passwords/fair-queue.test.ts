import assert from "node:assert/strict";
import { test } from "node:test";
import { createFairQueue } from "./fair-queue.ts";

class Full extends Error {}

/** Work that runs until it is finished by name. */
function stage(options: { concurrency?: number; maxWaiting?: number } = {}) {
  const queue = createFairQueue({ concurrency: 1, maxWaiting: 8, full: () => new Full(), ...options });
  const started: string[] = [];
  const refused: string[] = [];
  const finishers: Array<() => void> = [];
  const add = (orgId: string, name: string) => {
    const work = () => {
      started.push(name);
      return new Promise<void>((resolve) => void finishers.push(resolve));
    };
    queue(orgId, work).catch((error: unknown) => {
      assert.ok(error instanceof Full);
      refused.push(name);
    });
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const finishOne = async () => {
    await settle();
    finishers.shift()?.();
    await settle();
  };
  const finishAll = async () => {
    await settle();
    while (finishers.length > 0) await finishOne();
  };
  return { add, started, refused, settle, finishOne, finishAll };
}

test("organisations take turns, however much one of them sends", async () => {
  const { add, started, finishAll } = stage();
  for (const name of ["a1", "a2", "a3", "a4"]) add("a", name);
  for (const name of ["b1", "b2"]) add("b", name);
  add("c", "c1");
  await finishAll();
  assert.deepEqual(started, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("with a full queue, an organisation with fewer places takes one from whoever has most", async () => {
  const { add, started, refused, settle, finishAll } = stage({ maxWaiting: 4 });
  for (const name of ["a0", "a1", "a2", "a3", "a4", "a5"]) add("a", name);
  await settle();
  assert.deepEqual(refused, ["a5"], "its own last");
  add("b", "b1");
  await settle();
  assert.deepEqual(refused, ["a5", "a4"]);
  add("b", "b2");
  await settle();
  assert.deepEqual(refused, ["a5", "a4", "a3"]);
  // Both have two: nobody's place is worth more.
  add("b", "b3");
  await settle();
  assert.deepEqual(refused, ["a5", "a4", "a3", "b3"]);
  add("c", "c1");
  await finishAll();
  assert.equal(refused.length, 5);
  assert.ok(started.includes("c1"));
});

test("81 loops of one organisation cost another one a turn, not a queue", async () => {
  const { add, started, finishOne, settle } = stage({ concurrency: 2, maxWaiting: 64 });
  for (let loop = 0; loop < 81; loop++) add("noisy", `noisy ${loop}`);
  await settle();
  add("quiet", "quiet");
  await settle();
  const before = started.length;
  // One place at the front for the work that was waiting already, then it is the other's turn.
  for (let count = 0; count < 2; count++) await finishOne();
  assert.ok(started.includes("quiet"), `${started.length - before} others first`);
});

test("works run up to the concurrency, and a failed one frees its slot", async () => {
  const queue = createFairQueue({ concurrency: 2, maxWaiting: 100, full: () => new Full() });
  let [running, most] = [0, 0];
  const work = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
    throw new Error("failed");
  };
  const results = await Promise.allSettled(
    Array.from({ length: 40 }, (_, at) => queue(`org ${at % 3}`, work)),
  );
  assert.ok(results.every((result) => result.status === "rejected" && result.reason.message === "failed"));
  assert.equal(most, 2);
  assert.equal(await queue("org", async () => "still works"), "still works");
});
