/** What an agent makes of a ledger that is stale, forked, shortened, gone, or of somebody else. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { formatCheckpoint } from "@signet/protocol/ledger/checkpoint";
import { appendLeaves, emptyEdge, leafHash, rootOf, type TreeEdge } from "@signet/protocol/ledger/merkle";
import { cosignatureLine, formatVerifierKey, rawPublicKey, signNote } from "@signet/protocol/ledger/note";
import { formatTilePath } from "@signet/protocol/ledger/tile-path";
import { openLedgerWatch } from "./ledger-watch.ts";

const signer = (name: string) => ({ name, privateKey: generateKeyPairSync("ed25519").privateKey });
const keyText = ({ name, privateKey }: ReturnType<typeof signer>, type: 1 | 4) =>
  formatVerifierKey({ name, type, publicKey: rawPublicKey(privateKey) });
const origin = "id.example/ledger/a";
const [log, one, two] = [signer(origin), signer("w1.example"), signer("w2.example")];
const MAX_AGE = 300;

/** A log of entries with these texts. */
function treeOf(entries: readonly string[]) {
  const tiles = new Map<string, Buffer>();
  let edge: TreeEdge = emptyEdge;
  for (const entry of entries) {
    const grown = appendLeaves(edge, [leafHash(Buffer.from(entry))]);
    edge = grown.edge;
    for (const { level, index, hashes } of grown.tiles) tiles.set(`${level} ${index}`, hashes);
  }
  return { edge, tiles };
}
const numbered = (count: number, name = "entry") => Array.from({ length: count }, (_, at) => `${name} ${at}`);

let folder: string;
let stateFile: string;
let count = 0;
let now: number;
const shown = {
  entries: [] as readonly string[],
  at: 0,
  by: log,
  cosigners: [one, two],
  isAway: false,
  isGone: false,
};
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-ledger-watch-"));
});
after(() => rm(folder, { recursive: true }));
beforeEach(() => {
  stateFile = path.join(folder, `state-${++count}.json`);
  now = 1_800_000_000_000;
  Object.assign(shown, { entries: numbered(3), at: now / 1000, by: log, cosigners: [one, two] });
  Object.assign(shown, { isAway: false, isGone: false });
});

const read = async (place: string): Promise<Buffer | undefined> => {
  if (shown.isAway) throw new Error("fetch failed");
  if (shown.isGone) return undefined;
  const { edge, tiles } = treeOf(shown.entries);
  if (place !== "checkpoint") {
    for (const [name, hashes] of tiles) {
      const [level = 0, index = 0] = name.split(" ").map(Number);
      const width = hashes.length / 32;
      for (let most = 1; most <= width; most++)
        if (formatTilePath({ level, index, width: most }) === place) return hashes.subarray(0, most * 32);
    }
    return undefined;
  }
  const text = formatCheckpoint({ origin: shown.by.name, size: edge.size, root: rootOf(edge) });
  const lines = shown.cosigners.map((witness) => `${cosignatureLine(text, witness, shown.at)}\n`);
  return Buffer.from(`${signNote(text, shown.by)}${lines.join("")}`);
};
const open = (quorum = 2) =>
  openLedgerWatch(
    {
      ...{ url: "https://id.example/ledger/a", key: keyText(log, 1), quorum, maxAge: MAX_AGE, stateFile },
      witnesses: [keyText(one, 4), keyText(two, 4)],
    },
    { log: () => {}, clock: () => now, read },
  );
const later = (seconds: number, at = seconds) => {
  now += seconds * 1000;
  shown.at += at;
};

test("a young and consistent ledger lets it sign, and is remembered on disk", async () => {
  const watch = await open();
  await watch.require();
  assert.equal(watch.remembered()?.size, 3);
  later(60);
  shown.entries = numbered(300);
  await watch.require();
  const again = await open();
  await again.require();
  assert.equal(again.remembered()?.size, 300);
  assert.equal(JSON.parse(await readFile(stateFile, "utf8")).size, 300);
});

test("a stale one does not, nor one whose witnesses are too few, strangers or of the future", async () => {
  const watch = await open();
  await watch.require();
  later(MAX_AGE + 1, 0);
  await assert.rejects(watch.require(), { check: "ledger_stale", retryable: true });
  later(11);
  shown.at = now / 1000;
  await watch.require();
  for (const cosigners of [[one], [one, signer("w2.example")], []]) {
    Object.assign(shown, { cosigners });
    await assert.rejects((await open()).require(), { check: "ledger_not_witnessed" });
  }
  shown.cosigners = [one];
  await (await open(1)).require();
  shown.at = now / 1000 + 301;
  await assert.rejects((await open(1)).require(), { check: "ledger_not_witnessed" });
});

test("a forked one stops it at once and after a restart, until the true one is back", async () => {
  const watch = await open();
  await watch.require();
  shown.entries = [...numbered(2), "another", ...numbered(5)];
  later(MAX_AGE + 1);
  await assert.rejects(watch.require(), { check: "ledger_forked" });
  await assert.rejects(watch.require(), { check: "ledger_forked" });
  await assert.rejects((await open()).require(), { check: "ledger_forked" });
  shown.entries = numbered(3, "other");
  await assert.rejects((await open()).require(), { check: "ledger_forked" }, "another root of the same size");
  shown.entries = numbered(9);
  await (await open()).require();
});

test("one that is shorter, gone, of another key or another log does not", async () => {
  const watch = await open();
  await watch.require();
  const refused = async (check: string) => assert.rejects((await open()).require(), { check });
  shown.entries = numbered(2);
  await refused("ledger_rolled_back");
  shown.isGone = true;
  await refused("ledger_rolled_back");
  shown.isGone = false;
  shown.by = signer(origin);
  await refused("ledger_signature");
  shown.by = signer("id.example/ledger/b");
  await refused("ledger_malformed");
});

test("a service that is away is no lie until what was seen is too old", async () => {
  const watch = await open();
  await watch.require();
  shown.isAway = true;
  later(60, 0);
  await watch.require();
  later(MAX_AGE, 0);
  await assert.rejects(watch.require(), { check: "ledger_stale" });
});

test("a log without entries lets the first ones be signed, and not for ever", async () => {
  shown.isGone = true;
  const watch = await open();
  await watch.require();
  later(MAX_AGE + 1);
  await assert.rejects(watch.require(), { check: "ledger_stale" });
});

test("a state of another log, or a damaged one, is not overwritten", async () => {
  await writeFile(stateFile, JSON.stringify({ origin: "other.example", size: 1, root: "x", witnessedAt: 1 }));
  await assert.rejects(open(), /another ledger/);
  await writeFile(stateFile, JSON.stringify({ origin, size: 1, root: "x", witnessedAt: 1 }));
  await assert.rejects(open(), /damaged/);
});
