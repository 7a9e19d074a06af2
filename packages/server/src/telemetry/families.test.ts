import assert from "node:assert/strict";
import { test } from "node:test";
import {
  counter,
  declaredFamilies,
  gauge,
  histogram,
  isMeasuring,
  readSometimes,
  startMeasuring,
} from "./families.ts";

test("a counter has a cell for each combination of its labels, and a bounded number of them", async () => {
  const calls = counter({ name: "test_calls_total", help: "Calls" }, ["kind", "outcome"]);
  assert.deepEqual((await calls.get()).values, []);
  calls.at("a", "ok").value++;
  calls.at("a", "ok").value++;
  calls.at("a", "bad").value++;
  assert.equal(calls.at("a", "ok"), calls.at("a", "ok"), "the same cell: nothing is made");
  assert.deepEqual((await calls.get()).values, [
    { value: 2, labels: { kind: "a", outcome: "ok" } },
    { value: 1, labels: { kind: "a", outcome: "bad" } },
  ]);
  for (let at = 0; at < 5_000; at++) calls.at(`made up ${at}`, "ok").value++;
  const { values } = await calls.get();
  assert.ok(values.length <= 2_001, `${values.length}`);
  assert.equal(
    values.reduce((sum, { value }) => sum + value, 0),
    5_003,
    "what has no cell of its own is counted with the others",
  );
});

test("a counter without labels begins with zero, as a rate needs it", async () => {
  const calls = counter({ name: "test_plain_total", help: "Calls" });
  assert.deepEqual((await calls.get()).values, [{ value: 0, labels: {} }]);
});

test("a family is declared once, and known to the exposition", () => {
  counter({ name: "test_twice_total", help: "Calls" });
  assert.throws(() => counter({ name: "test_twice_total", help: "Calls" }), /declared twice/);
  assert.ok(declaredFamilies().some(({ name }) => name === "test_twice_total"));
});

test("a histogram does nothing until somebody asks for metrics, and its buckets add up", async () => {
  const times = histogram({ name: "test_times_seconds", help: "Times" }, ["what"], [0.1, 1]);
  assert.equal(isMeasuring(), false);
  times.observe(0.05, "a");
  assert.deepEqual((await times.get()).values, []);
  const end = startMeasuring();
  try {
    for (const seconds of [0.05, 0.1, 0.5, 7]) times.observe(seconds, "a");
  } finally {
    end();
  }
  assert.equal(isMeasuring(), false);
  times.observe(0.05, "a");
  const shown = (await times.get()).values.map(({ metricName, value, labels }) => [
    metricName,
    labels["le"],
    Math.round(value * 100) / 100,
  ]);
  assert.deepEqual(shown, [
    ["test_times_seconds_bucket", 0.1, 2],
    ["test_times_seconds_bucket", 1, 3],
    ["test_times_seconds_bucket", "+Inf", 4],
    ["test_times_seconds_sum", undefined, 7.65],
    ["test_times_seconds_count", undefined, 4],
  ]);
});

test("a gauge that can't be read is missing, and fails nobody", async () => {
  const text = { name: "test_gauge", help: "A gauge", aggregator: "max" } as const;
  const refuse = () => Promise.reject(new Error("the database is away"));
  assert.deepEqual((await gauge(text, [], refuse).get()).values, []);
  assert.deepEqual((await gauge(text, [], () => 3).get()).values, [{ value: 3, labels: {} }]);
});

test("what costs a statement is read once in a while, by however many it is asked for", async () => {
  let reads = 0;
  const read = readSometimes(600_000, async () => ++reads);
  assert.deepEqual(await Promise.all([read(), read(), read()]), [1, 1, 1]);
  assert.equal(await readSometimes(0, read)(), 1);
  assert.equal(reads, 1);
});
