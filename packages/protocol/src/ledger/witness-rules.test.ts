import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { formatAddCheckpoint, formatCheckpoint } from "./checkpoint.ts";
import { appendLeaves, consistencyProof, emptyEdge, leafHash, rootOf } from "./merkle.ts";
import { rawPublicKey, signNote, type VerifierKey } from "./note.ts";
import { judgeCheckpoint, type WitnessedTree } from "./witness-rules.ts";

const origin = "log.example/a";
const { privateKey } = generateKeyPairSync("ed25519");
const key: VerifierKey = { name: origin, type: 1, publicKey: rawPublicKey(privateKey) };

function treeOf(name: string, size: number) {
  const leaves = Array.from({ length: size }, (_, at) => leafHash(Buffer.from(`${name} ${at}`)));
  const { edge, tiles } = appendLeaves(emptyEdge, leaves);
  const read = async (level: number, index: number) =>
    tiles.find((tile) => tile.level === level && tile.index === index)?.hashes ?? Buffer.alloc(0);
  return { root: rootOf(edge), proveFrom: (from: number) => consistencyProof(read, from, size) };
}

const signed = (size: number, root: Buffer, of = origin) =>
  signNote(formatCheckpoint({ origin: of, size, root }), { name: of, privateKey });

const viewOf = (latest?: WitnessedTree) => ({
  keysOf: (asked: string) => (asked === origin ? [key] : undefined),
  latestOf: () => latest,
});

test("cosigns the first tree, its continuations, and the same tree again", async () => {
  const [old, grown] = [treeOf("a", 5), treeOf("a", 300)];
  const first = judgeCheckpoint(
    formatAddCheckpoint({ oldSize: 0, proof: [], checkpoint: signed(5, old.root) }),
    viewOf(),
  );
  assert.equal(first.status, 200);
  const tree = "tree" in first ? first.tree : undefined;
  assert.deepEqual(tree, { size: 5, root: old.root });
  const proof = await grown.proveFrom(5);
  const next = { oldSize: 5, proof, checkpoint: signed(300, grown.root) };
  assert.equal(judgeCheckpoint(formatAddCheckpoint(next), viewOf(tree)).status, 200);
  const again = { oldSize: 5, proof: [], checkpoint: signed(5, old.root) };
  assert.equal(judgeCheckpoint(formatAddCheckpoint(again), viewOf(tree)).status, 200);
});

test("a fork, a rollback, another key, another log: refused, each with its status", async () => {
  const [old, grown, forked] = [treeOf("a", 5), treeOf("a", 300), treeOf("b", 300)];
  const latest = { size: 5, root: old.root };
  const judge = (sent: Parameters<typeof formatAddCheckpoint>[0], view = viewOf(latest)) =>
    judgeCheckpoint(formatAddCheckpoint(sent), view);
  const proof = await grown.proveFrom(5);
  assert.deepEqual(judge({ oldSize: 5, proof, checkpoint: signed(300, forked.root) }), { status: 422 });
  assert.deepEqual(
    judge({ oldSize: 5, proof: await forked.proveFrom(5), checkpoint: signed(300, forked.root) }),
    {
      status: 422,
    },
  );
  assert.deepEqual(judge({ oldSize: 5, proof: [], checkpoint: signed(5, treeOf("b", 5).root) }), {
    ...{ status: 409, size: 5, isFork: true },
  });
  assert.deepEqual(judge({ oldSize: 0, proof: [], checkpoint: signed(300, forked.root) }), {
    ...{ status: 409, size: 5 },
  });
  assert.deepEqual(judge({ oldSize: 6, proof: [], checkpoint: signed(5, old.root) }), { status: 400 });
  assert.deepEqual(judge({ oldSize: 5, proof, checkpoint: signed(300, grown.root, "log.example/b") }), {
    status: 404,
  });
  const other = generateKeyPairSync("ed25519").privateKey;
  const checkpoint = signNote(formatCheckpoint({ origin, size: 300, root: grown.root }), {
    ...{ name: origin, privateKey: other },
  });
  assert.deepEqual(judge({ oldSize: 5, proof, checkpoint }), { status: 403 });
  assert.deepEqual(judgeCheckpoint("old 5\n\nnonsense", viewOf(latest)), { status: 400 });
});

test("an empty tree has one root", () => {
  const judge = (root: Buffer) =>
    judgeCheckpoint(formatAddCheckpoint({ oldSize: 0, proof: [], checkpoint: signed(0, root) }), viewOf());
  assert.equal(judge(rootOf(emptyEdge)).status, 200);
  assert.deepEqual(judge(Buffer.alloc(32, 1)), { status: 422 });
});
