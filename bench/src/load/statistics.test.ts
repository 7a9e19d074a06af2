import assert from "node:assert/strict";
import { test } from "node:test";
import { median, percentile } from "./statistics.ts";

test("the median is the middle value, or the mean of the middle two, in whatever order they come", () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([7]), 7);
  assert.ok(Number.isNaN(median([])));
});

test("a percentile is a value that occurred, by the nearest rank", () => {
  const values = Array.from({ length: 200 }, (_unused, index) => index + 1);
  assert.equal(percentile(values, 0.5), 100);
  assert.equal(percentile(values, 0.99), 198);
  assert.equal(percentile(values, 1), 200);
  assert.equal(percentile([3], 0.99), 3);
  assert.ok(Number.isNaN(percentile([], 0.99)));
});
