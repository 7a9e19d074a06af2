import assert from "node:assert/strict";
import { test } from "node:test";
import { duringRequest } from "./audit/audited-request.ts";
import { type FairPlaces, fairPlaces, NoPlaceLeft } from "./fair-places.ts";

/** Asks for places in the given order. @returns who got one and who was refused, in order, and a way to end an owner's oldest */
function waiters(places: FairPlaces) {
  const got: string[] = [];
  const refused: string[] = [];
  const held: Array<{ owner: string; release: () => void }> = [];
  return {
    got,
    refused,
    ask: async (owners: string) => {
      for (const owner of owners)
        void places.take(owner).then(
          (release) => {
            got.push(owner);
            held.push({ owner, release });
          },
          (error: unknown) => refused.push(error instanceof NoPlaceLeft ? owner : String(error)),
        );
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

test("room to wait is bounded, and taken from whoever has most of it", async () => {
  const { ask, end, got, refused } = waiters(fairPlaces({ all: 1, each: 1, waiting: 4 }));
  await ask("AAAAAA");
  assert.equal(refused.join(""), "A", "its own last");
  await ask("BB");
  assert.equal(refused.join(""), "AAA");
  // Both have two: nobody's room is worth more.
  await ask("B");
  assert.equal(refused.join(""), "AAAB");
  await ask("C");
  assert.equal(refused.length, 5);
  for (let turn = 0; turn < 5; turn++) await end(got.at(-1) ?? "");
  assert.equal(got.filter((owner) => owner === "C").length, 1);
  assert.equal(got.length, 5);
});

test("81 loops of one owner cost another one a turn, not a queue", async () => {
  const { ask, end, got } = waiters(fairPlaces({ all: 2, each: 2, waiting: 64 }));
  await ask("N".repeat(81));
  await ask("Q");
  // One turn for what was waiting already.
  for (let turn = 0; turn < 2; turn++) await end("N");
  assert.ok(got.includes("Q"), got.join(""));
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

test("a request says that it waits when it does, not when it goes on or is refused at once", async () => {
  const places = fairPlaces({ all: 1, each: 1, waiting: 1 });
  const waits: string[] = [];
  const take = (requestId: string) =>
    duringRequest({ requestId, userAgent: undefined, onWait: () => waits.push(requestId) }, () =>
      places.take("A"),
    );
  const release = await take("first");
  const second = take("second");
  await assert.rejects(take("third"), NoPlaceLeft);
  assert.deepEqual(waits, ["second"]);
  release();
  (await second)();
});
