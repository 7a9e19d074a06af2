import assert from "node:assert/strict";
import { test } from "node:test";
import { createSingleFlight } from "./single-flight.ts";

function flightsWith(keepMs: number, maxEntries = 100) {
  let now = 1_000;
  let started = 0;
  const flights = createSingleFlight<number>({ clock: () => now, keepMs: () => keepMs, maxEntries });
  const work = async () => ++started;
  return { flights, work, started: () => started, advance: (ms: number) => (now += ms) };
}

test("a hundred concurrent callers share one piece of work", async () => {
  const { flights, work, started } = flightsWith(0);
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => flights.run("a", work)));
  assert.deepEqual([...new Set(outcomes)], [1]);
  assert.equal(started(), 1);
});

test("a result is shared as long as it is kept", async () => {
  const { flights, work, advance } = flightsWith(50);
  assert.equal(await flights.run("a", work), 1);
  advance(49);
  assert.equal(await flights.run("a", work), 1);
  advance(1);
  assert.equal(await flights.run("a", work), 2);
});

test("results that aren't kept are forgotten immediately, and so are errors", async () => {
  const { flights, work, started } = flightsWith(0);
  await flights.run("a", work);
  assert.equal(await flights.run("a", work), 2);
  const broken = () => {
    throw new Error("broken");
  };
  const both = [flights.run("b", broken), flights.run("b", broken)];
  for (const one of both) await assert.rejects(one, /broken/);
  assert.equal(await flights.run("b", work), 3);
  assert.equal(started(), 3);
});

test("keys are independent, the number of entries is limited, and pending work is never dropped", async () => {
  const { flights, work } = flightsWith(1_000, 3);
  let finish = (_value: number) => {};
  const slow = flights.run("slow", () => new Promise<number>((resolve) => (finish = resolve)));
  for (const key of ["a", "b", "c", "d"]) await flights.run(key, work);
  assert.equal(await flights.run("d", work), 4);
  assert.equal(await flights.run("a", work), 5);
  const again = flights.run("slow", work);
  finish(77);
  assert.deepEqual(await Promise.all([slow, again]), [77, 77]);
});
