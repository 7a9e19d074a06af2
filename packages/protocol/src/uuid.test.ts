import assert from "node:assert/strict";
import { test } from "node:test";
import { newUuid, nextUuid } from "./uuid.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("ids are in the order in which they were made, and of version 7", () => {
  const made = Array.from({ length: 20_000 }, newUuid);
  assert.deepEqual(made, made.toSorted());
  assert.equal(new Set(made).size, made.length);
  for (const id of made) assert.match(id, UUID_V7);
});

test("what comes next is not guessed from the last one", () => {
  const before = "01a1ff0e-bc1b-79c8-847f-5a51436060cb";
  const steps = Array.from({ length: 100 }, () => nextUuid(before, before));
  assert.equal(new Set(steps).size, steps.length);
});

test("a clock that is set back, and a random part that is used up, change nothing about the order", () => {
  const before = "01a1ff0e-bc1b-7fff-bfff-ffffffffffff";
  const earlier = "01a10000-0000-7123-8123-123456789abc";
  assert.equal(nextUuid(before, earlier), "01a1ff0e-bc1c-7123-8123-123456789abc");
  const carried = nextUuid("01a1ff0e-ffff-7fff-bfff-ffffffffffff", earlier);
  assert.equal(carried, "01a1ff0f-0000-7123-8123-123456789abc");
  const low = "01a1ff0e-bc1b-7000-8000-000000000000";
  const next = nextUuid(low, earlier);
  assert.ok(next > low);
  assert.match(next, /^01a1ff0e-bc1b-7000-[89ab]/);
});
