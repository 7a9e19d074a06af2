import assert from "node:assert/strict";
import { test } from "node:test";
import { shortestGroupPaths } from "./group-paths.ts";

const world = (direct: readonly string[], outer: Readonly<Record<string, readonly string[]>>) => {
  const ids = new Set([...direct, ...Object.keys(outer), ...Object.values(outer).flat()]);
  const held = {
    groups: new Map([...ids].map((id) => [id, { id, displayName: id, externalId: null }] as const)),
    direct,
    outer: new Map(Object.entries(outer)),
  };
  return Object.fromEntries(
    [...shortestGroupPaths(held)].map(([id, path]) => [id, path.map((one) => one.id)]),
  );
};

test("each group has its shortest way, which begins with one that the subject is a member of itself", () => {
  assert.deepEqual(world(["a", "d"], { a: ["b"], b: ["c"], d: ["c"] }), {
    a: ["a"],
    b: ["a", "b"],
    c: ["d", "c"],
    d: ["d"],
  });
});

test("a cycle and a group that is no longer there end it all the same", () => {
  assert.deepEqual(world(["a"], { a: ["b"], b: ["a"] }), { a: ["a"], b: ["a", "b"] });
  const gone = { groups: new Map(), direct: ["x"], outer: new Map() };
  assert.equal(shortestGroupPaths(gone).size, 0);
});
