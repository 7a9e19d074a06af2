import assert from "node:assert/strict";
import { test } from "node:test";
import { readWireTime, wireTime, wireTimeOrNull } from "./times.ts";

test("reads back what it writes, and other time zones as the same time", () => {
  const at = Date.UTC(2027, 0, 31, 12, 30, 15, 123);
  assert.equal(wireTime(at), "2027-01-31T12:30:15.123Z");
  assert.equal(readWireTime(wireTime(at)), at);
  assert.equal(readWireTime("2027-01-31T14:30:15.123+02:00"), at);
  assert.equal(readWireTime("2027-01-31t12:30:15.123z"), at);
  assert.equal(wireTimeOrNull(null), null);
});

test("rejects invalid date-times", () => {
  for (const text of [
    "2027-02-30T12:00:00Z",
    "2027-13-01T12:00:00Z",
    "2027-01-01T24:00:00Z",
    "2027-01-01T12:00:60Z",
    "2027-01-01T12:00:00",
    "2027-01-01",
    "tomorrow",
    "",
  ])
    assert.equal(readWireTime(text), undefined, text);
});
