import assert from "node:assert/strict";
import { test } from "node:test";
import { type FairPlaces, fairPlaces, NoPlaceLeft } from "./fair-places.ts";

const never = new AbortController().signal;

/** Asks for places in the given order. @returns who got one, in order, and a way to end the oldest of an owner */
function waiters(places: FairPlaces) {
  const got: string[] = [];
  const held: Array<{ owner: string; release: () => void }> = [];
  return {
    got,
    ask: async (owners: string) => {
      for (const owner of owners)
        void places.take(owner, never).then((release) => {
          got.push(owner);
          held.push({ owner, release });
        });
      await new Promise(setImmediate);
    },
    end: async (owner: string) => {
      const at = held.findIndex((one) => one.owner === owner);
      held.splice(at, 1)[0]?.release();
      await new Promise(setImmediate);
    },
  };
}

test("an owner with many requests leaves places to the others", async () => {
  const { ask, got } = waiters(fairPlaces({ all: 4, each: 2, waiting: 100 }));
  await ask("AAAAAAAA");
  assert.deepEqual(got.join(""), "AA");
  await ask("B");
  assert.deepEqual(got.join(""), "AAB");
});

test("owners who wait take turns, however many one has waiting", async () => {
  const { ask, end, got } = waiters(fairPlaces({ all: 2, each: 2, waiting: 100 }));
  await ask("XX");
  await ask("AAAABBC");
  for (const owner of ["X", "X", "A", "B", "C", "A", "B"]) await end(owner);
  assert.equal(got.slice(2).join(""), "ABCABAA");
});

test("an owner at its share is passed, and comes when one of its own ends", async () => {
  const { ask, end, got } = waiters(fairPlaces({ all: 3, each: 2, waiting: 100 }));
  await ask("AABA");
  await ask("BB");
  assert.equal(got.join(""), "AAB");
  await end("B");
  assert.equal(got.join(""), "AABB", "A waits longer, and has its two");
  await end("A");
  assert.equal(got.join(""), "AABBA");
});

test("a bounded number of one owner waits; the others may still", async () => {
  const places = fairPlaces({ all: 1, each: 1, waiting: 2 });
  const { ask, got, end } = waiters(places);
  await ask("AAA");
  await assert.rejects(places.take("A", never), NoPlaceLeft);
  await ask("B");
  await end("A");
  await end("A");
  assert.equal(got.join(""), "AAB");
});

test("whoever gives up leaves no trace, and takes no place later", async () => {
  const places = fairPlaces({ all: 1, each: 1, waiting: 1 });
  const { ask, got, end } = waiters(places);
  await ask("A");
  const giving = new AbortController();
  const waiting = places.take("B", giving.signal);
  giving.abort(new Error("gave up"));
  await assert.rejects(waiting, /gave up/);
  await assert.rejects(places.take("B", giving.signal), /gave up/);
  await ask("B");
  await end("A");
  assert.equal(got.join(""), "AB");
});
