import assert from "node:assert/strict";
import { test } from "node:test";
import { type BusyLine, openBusyLog } from "./busy-log.ts";

test("a thousand refusals write two lines: the first at once, the others counted", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lines: BusyLine[] = [];
  const log = openBusyLog((line) => lines.push(line));
  const full = () => log.note(new Error("the password queue is full"));
  for (let count = 0; count < 1_000; count++) full();
  log.note("the database is away");
  assert.deepEqual(lines, [
    { refused: 1, cause: "the password queue is full" },
    { refused: 1, cause: "the database is away" },
  ]);
  t.mock.timers.tick(10_000);
  assert.deepEqual(lines.slice(2), [{ refused: 999, cause: "the password queue is full" }]);
  // Still busy: no line at once again.
  full();
  assert.equal(lines.length, 3);
  t.mock.timers.tick(10_000);
  assert.deepEqual(lines.slice(3), [{ refused: 1, cause: "the password queue is full" }]);
  t.mock.timers.tick(10_000);
  full();
  assert.equal(lines.length, 5, "after a quiet while, at once");
});

test("bounded in causes and length, and what is counted is written at the end", () => {
  const lines: BusyLine[] = [];
  const log = openBusyLog((line) => lines.push(line));
  for (let count = 0; count < 100; count++) log.note(new Error(`${count} ${"x".repeat(1_000)}`));
  assert.equal(lines.length, 21);
  assert.ok(lines.every(({ cause }) => cause.length <= 200));
  log.end();
  assert.deepEqual(lines.slice(21), [{ refused: 79, cause: "other" }]);
});
