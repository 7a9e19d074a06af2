import assert from "node:assert/strict";
import { test } from "node:test";
import { isNestedWithin, MAX_JSON_DEPTH } from "./json-depth.ts";

const lists = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
const records = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);

test("arrays and objects are counted, the deepest of them, and what is in none is in none", () => {
  for (const value of [1, "[[[", null, true]) assert.ok(isNestedWithin(value, 0));
  for (const nested of [lists, records]) {
    assert.ok(isNestedWithin(nested(MAX_JSON_DEPTH)));
    assert.ok(!isNestedWithin(nested(MAX_JSON_DEPTH + 1)));
    assert.ok(isNestedWithin(nested(2), 2));
    assert.ok(!isNestedWithin([1, nested(2)], 2));
  }
});

test("no depth is too much to be looked at", () => {
  assert.ok(!isNestedWithin(lists(500_000)));
});
