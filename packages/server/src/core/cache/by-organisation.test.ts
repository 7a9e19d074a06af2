import assert from "node:assert/strict";
import { test } from "node:test";
import { byOrganisation } from "./by-organisation.ts";

test("holds no more than its capacity, whoever has the entries", () => {
  const map = byOrganisation<number>(3);
  for (let number = 0; number < 10; number++) map.set(`o${number % 4}`, `i${number}`, number);
  const all = Array.from({ length: 10 }, (_, number) => map.get(`o${number % 4}`, `i${number}`));
  assert.deepEqual(
    all.filter((one) => one !== undefined),
    [7, 8, 9],
  );
});

test("an entry that is set again counts once, and is the new one", () => {
  const map = byOrganisation<string>(2);
  map.set("o", "a", "one");
  map.set("o", "a", "two");
  map.set("p", "b", "three");
  assert.deepEqual([map.get("o", "a"), map.get("p", "b")], ["two", "three"]);
});

test("an organisation loses its entries and leaves room for as many, and nobody else's are touched", () => {
  const map = byOrganisation<number>(3);
  map.set("o", "a", 1);
  map.set("o", "b", 2);
  map.set("p", "a", 3);
  map.deleteOrganisation("o");
  assert.deepEqual([map.get("o", "a"), map.get("o", "b"), map.get("p", "a")], [undefined, undefined, 3]);
  map.set("q", "a", 4);
  map.set("q", "b", 5);
  assert.equal(map.get("p", "a"), 3);
});

test("the organisation that has got nothing new for longest loses its oldest entry", () => {
  const map = byOrganisation<number>(3);
  map.set("o", "a", 1);
  map.set("p", "a", 2);
  map.set("o", "b", 3);
  map.set("q", "a", 4);
  assert.equal(map.get("p", "a"), undefined);
  assert.deepEqual([map.get("o", "a"), map.get("o", "b"), map.get("q", "a")], [1, 3, 4]);
});

test("an organisation whose only entry makes room for its second has the second", () => {
  const map = byOrganisation<number>(2);
  map.set("o", "a", 1);
  map.set("p", "a", 2);
  map.set("o", "b", 3);
  assert.deepEqual([map.get("o", "a"), map.get("o", "b"), map.get("p", "a")], [undefined, 3, 2]);
  map.set("q", "a", 4);
  map.set("q", "b", 5);
  assert.deepEqual(
    [map.get("o", "b"), map.get("p", "a"), map.get("q", "a"), map.get("q", "b")],
    [undefined, undefined, 4, 5],
  );
  map.clear();
  assert.equal(map.get("q", "b"), undefined);
});
