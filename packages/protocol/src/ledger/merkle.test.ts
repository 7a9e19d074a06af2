import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import {
  appendLeaves,
  consistencyProof,
  emptyEdge,
  emptyRoot,
  inclusionProof,
  isConsistent,
  leafHash,
  nodeHash,
  rootOf,
  rootOfInclusion,
  type TreeEdge,
} from "./merkle.ts";

/** The entries and roots that implementations of RFC 6962 share as test vectors. */
const entries = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
];
const roots = [
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

/** The definition of RFC 6962 §2.1, word by word. */
function treeHash(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return emptyRoot();
  if (leaves.length === 1) return leaves[0] ?? emptyRoot();
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return nodeHash(treeHash(leaves.slice(0, split)), treeHash(leaves.slice(split)));
}

function logOf(batches: readonly (readonly Buffer[])[]) {
  const stored = new Map<string, Buffer>();
  let edge: TreeEdge = emptyEdge;
  for (const batch of batches) {
    const appended = appendLeaves(edge, batch);
    edge = appended.edge;
    for (const { level, index, hashes } of appended.tiles) stored.set(`${level} ${index}`, hashes);
  }
  const read = async (level: number, index: number, width: number) => {
    const tile = stored.get(`${level} ${index}`);
    assert.ok(tile && width > 0 && tile.length >= width * 32, `tile ${level} ${index} of width ${width}`);
    return tile.subarray(0, width * 32);
  };
  return { edge, read, stored };
}

const leavesTo = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, index) => leafHash(Buffer.from(`entry ${index}`)));

test("the roots of RFC 6962's test vectors", () => {
  const leaves = entries.map((entry) => leafHash(Buffer.from(entry, "hex")));
  for (const [at, root] of roots.entries())
    assert.equal(rootOf(logOf([leaves.slice(0, at + 1)]).edge).toString("hex"), root);
  assert.equal(rootOf(emptyEdge).toString("hex"), hash("sha256", ""));
});

test("tiles and roots are the same however the entries arrive, across the widths of tiles", () => {
  const leaves = leavesTo(256 * 256 + 300);
  for (const size of [1, 255, 256, 257, 512, 700, 65_536, leaves.length]) {
    const all = leaves.slice(0, size);
    const whole = logOf([all]);
    const third = Math.ceil(size / 3);
    const parts = logOf([all.slice(0, third), all.slice(third, third + 1), [], all.slice(third + 1)]);
    assert.deepEqual(parts.edge, whole.edge);
    assert.deepEqual(parts.stored, whole.stored);
    assert.deepEqual(rootOf(whole.edge), treeHash(all));
  }
  const { stored } = logOf([leaves.slice(0, 65_536)]);
  assert.equal(stored.get("1 0")?.length, 8_192);
  assert.equal(stored.get("2 0")?.length, 32);
  assert.equal(stored.has("0 256"), false);
});

test("every leaf is proven, and no other at its place", async () => {
  const leaves = leavesTo(600);
  const { read } = logOf([leaves]);
  for (const size of [1, 2, 3, 7, 8, 255, 256, 257, 511, 600]) {
    const root = treeHash(leaves.slice(0, size));
    for (const index of new Set([0, 1, 2, 5, 127, 254, 255, 256, size - 2, size - 1])) {
      const leaf = leaves[index];
      if (!leaf || index < 0 || index >= size) continue;
      const proof = await inclusionProof(read, index, size);
      assert.deepEqual(rootOfInclusion(leaf, index, size, proof), root, `${index} of ${size}`);
      assert.notDeepEqual(rootOfInclusion(leafHash(leaf), index, size, proof), root);
      assert.equal(rootOfInclusion(leaf, size, size, proof), undefined);
      assert.equal(rootOfInclusion(leaf, index, size, [...proof, root]), undefined, "one hash too many");
      if (proof.length > 0)
        assert.equal(rootOfInclusion(leaf, index, size, proof.slice(1)), undefined, "one too few");
    }
  }
  await assert.rejects(async () => inclusionProof(read, 600, 600), RangeError);
});

test("every earlier tree is proven to be the beginning, and a forked one is not", async () => {
  const leaves = leavesTo(600);
  const { read } = logOf([leaves]);
  for (const size of [1, 2, 6, 7, 8, 256, 257, 300, 600])
    for (const from of new Set([0, 1, 2, 3, 4, 6, 7, 8, 255, 256, 257, 299, size - 1, size])) {
      if (from > size) continue;
      const to = { size, root: treeHash(leaves.slice(0, size)) };
      const old = { size: from, root: treeHash(leaves.slice(0, from)) };
      const proof = await consistencyProof(read, from, size);
      assert.ok(isConsistent(old, to, proof), `${from} to ${size}`);
      if (from === 0) continue;
      const forked = { size: from, root: treeHash([leafHash(Buffer.from("x")), ...leaves.slice(1, from)]) };
      assert.equal(isConsistent(forked, to, proof), false, `forked: ${from} to ${size}`);
      assert.equal(isConsistent(old, { size, root: forked.root }, proof), false);
      assert.equal(isConsistent(old, to, [...proof, to.root]), false);
      if (proof.length > 0) assert.equal(isConsistent(old, to, proof.slice(0, -1)), false);
    }
  assert.equal(isConsistent({ size: 2, root: emptyRoot() }, { size: 1, root: emptyRoot() }, []), false);
});

test("an append costs the same at ten million leaves", () => {
  // The edge of a tree of 10,000,000 leaves: widths by level, any hashes.
  const widths = [10_000_000 % 256, 39_062 % 256, 152];
  const edge = { size: 10_000_000, partial: widths.map((width) => Buffer.alloc(width * 32, 7)) };
  const { tiles, edge: after } = appendLeaves(edge, leavesTo(200));
  assert.deepEqual(
    tiles.map(({ level, index, hashes }) => [level, index, hashes.length / 32]),
    [
      [0, 39_062, 256],
      [0, 39_063, 72],
      [1, 152, 151],
    ],
  );
  assert.equal(after.size, 10_000_200);
});
