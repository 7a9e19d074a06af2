import assert from "node:assert/strict";
import { test } from "node:test";
import { recordCache } from "./record-cache.ts";

function fixture(capacity = 10) {
  const state = { now: 1_000, loads: 0, value: "one" as string | undefined };
  const cache = recordCache<string>({
    name: "test",
    capacity,
    maxAgeMs: 500,
    clock: () => state.now,
    load: async () => {
      state.loads++;
      return state.value;
    },
  });
  return { state, cache };
}

test("loads a record once while it is fresh", async () => {
  const { state, cache } = fixture();
  assert.equal(await cache.get("o", "a"), "one");
  assert.equal(await cache.get("o", "a"), "one");
  assert.equal(state.loads, 1);
  state.now += 501;
  state.value = "two";
  assert.equal(await cache.get("o", "a"), "two");
});

test("an eviction takes effect immediately, also for a running load", async () => {
  const { state, cache } = fixture();
  const pending = cache.get("o", "a");
  cache.evictOrganisation("o");
  await pending;
  state.value = "two";
  assert.equal(await cache.get("o", "a"), "two", "the old record must not have been kept");
  cache.evictOrganisation("other");
  await cache.get("o", "a");
  assert.equal(state.loads, 2, "another organisation's change leaves it alone");
});

test("a change elsewhere during a load does not keep the record from being kept", async () => {
  const { state, cache } = fixture();
  const pending = [cache.get("o", "a"), cache.get("p", "a")];
  cache.evictOrganisation("other");
  cache.evictOrganisation("p");
  await Promise.all(pending);
  assert.equal(cache.peek("o", "a"), "one");
  assert.equal(cache.peek("p", "a"), undefined);
  const last = cache.get("p", "a");
  cache.clear();
  await last;
  assert.equal(cache.peek("p", "a"), undefined, "all are told by a gap in the feed");
  assert.equal(state.loads, 3);
});

test("a load that fails leaves nothing behind", async () => {
  let fails = true;
  const load = async () => {
    if (fails) throw new Error("away");
    return "one";
  };
  const cache = recordCache<string>({ name: "test", capacity: 1, maxAgeMs: 1, clock: () => 0, load });
  await assert.rejects(cache.get("o", "a"), /away/);
  fails = false;
  assert.equal(await cache.get("o", "a"), "one");
  assert.equal(cache.peek("o", "a"), "one");
});

test("never exceeds its capacity and never caches absence", async () => {
  const { state, cache } = fixture(2);
  await cache.get("o", "a");
  await cache.get("o", "b");
  await cache.get("o", "c");
  assert.equal(cache.peek("o", "a"), undefined);
  assert.equal(cache.peek("o", "c"), "one");
  state.value = undefined;
  assert.equal(await cache.get("o", "missing"), undefined);
  state.value = "made";
  assert.equal(await cache.get("o", "missing"), "made");
});
