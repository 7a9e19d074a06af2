import assert from "node:assert/strict";
import { test } from "node:test";
import { imageMemory } from "./image-memory.ts";

function memoryOf(maxBytes: number, has: (digest: string) => boolean = () => true) {
  const loads: string[] = [];
  const memory = imageMemory(maxBytes, async ({ orgId, digest }) => {
    loads.push(`${orgId}/${digest}`);
    return has(digest) ? { type: "image/png", bytes: Buffer.alloc(10) } : undefined;
  });
  return { loads, find: (digest: string, orgId = "a") => memory.find({ orgId, digest }) };
}

test("all who ask for an image get the same bytes, also those who ask at once", async () => {
  const { loads, find } = memoryOf(100);
  const [first, ...others] = await Promise.all([find("x"), find("x"), find("x")]);
  assert.ok(first);
  for (const other of [...others, await find("x")]) assert.equal(other?.bytes, first.bytes);
  assert.deepEqual(loads, ["a/x"]);
  await find("x", "b");
  assert.deepEqual(loads, ["a/x", "b/x"], "each organisation has its own");
});

test("holds no more than its size: what was longest not asked for goes", async () => {
  const { loads, find } = memoryOf(30);
  for (const digest of ["x", "y", "z", "x", "w"]) await find(digest);
  assert.deepEqual(loads, ["a/x", "a/y", "a/z", "a/w"]);
  await find("x");
  await find("z");
  assert.equal(loads.length, 4);
  await find("y");
  assert.equal(loads.length, 5);
  const small = memoryOf(9);
  await small.find("x");
  await small.find("x");
  assert.equal(small.loads.length, 2, "one that is larger than all of it isn't kept");
});

test("what isn't there is asked for again", async () => {
  const there = new Set<string>();
  const { loads, find } = memoryOf(30, (digest) => there.has(digest));
  assert.equal(await find("x"), undefined);
  there.add("x");
  assert.ok(await find("x"));
  assert.equal(loads.length, 2);
});

test("a failure is told to those who asked, and is tried again", async () => {
  let fails = true;
  const memory = imageMemory(30, async () => {
    if (fails) throw new Error("away");
    return { type: "image/png", bytes: Buffer.alloc(1) };
  });
  const key = { orgId: "a", digest: "x" };
  const asked = await Promise.allSettled([memory.find(key), memory.find(key)]);
  assert.deepEqual(
    asked.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  fails = false;
  assert.ok(await memory.find(key));
});
