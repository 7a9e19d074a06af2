import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatAddCheckpoint,
  formatCheckpoint,
  parseAddCheckpoint,
  parseCheckpoint,
  parseSignedCheckpoint,
} from "./checkpoint.ts";
import {
  formatBundle,
  formatEntry,
  type LedgerEntry,
  parseBundle,
  parseEntry,
  signingInputHash,
} from "./entry.ts";
import { formatLedgerProof, parseLedgerProof } from "./proof.ts";

/** The examples of C2SP tlog-checkpoint and tlog-witness. */
const text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
const signature =
  "\u2014 example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n";
const checkpoint = `${text}\n${signature}`;
const request = `old 20852014
PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=

${checkpoint}`;

test("the specification's checkpoint and request", () => {
  const parsed = parseCheckpoint(text);
  assert.ok(parsed);
  assert.equal(parsed.size, 20_852_163);
  assert.equal(formatCheckpoint(parsed), text);
  assert.deepEqual(parseCheckpoint(`${text}extension\n`), parsed);
  assert.equal(parseSignedCheckpoint(checkpoint)?.origin, "example.com/behind-the-sofa");
  const added = parseAddCheckpoint(request);
  assert.equal(added?.oldSize, 20_852_014);
  assert.equal(added.proof.length, 2);
  assert.equal(added.checkpoint, checkpoint);
  assert.equal(formatAddCheckpoint(added), request);
  assert.equal(parseAddCheckpoint(`old 0\n\n${checkpoint}`)?.proof.length, 0);
});

test("another spelling of a checkpoint or request is refused", () => {
  for (const wrong of [
    text.slice(0, -1),
    text.replace("20852163", "020852163"),
    text.replace("20852163", "+1"),
    text.replace("20852163", "99999999999999999"),
    text.replace("q2I=", "q2J="),
    text.replace("CsUY", ""),
    text.replace("example.com/behind-the-sofa", ""),
    `${text}\n`,
    `${text}\nextension\n`,
    "",
  ])
    assert.equal(parseCheckpoint(wrong), undefined, wrong);
  const line = "PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\n";
  for (const wrong of [
    request.replace("old ", "old"),
    request.replace("20852014", "007"),
    request.replace("PlRN", "Pl"),
    request.replace(line, line.repeat(63)),
    "old 1",
    "",
  ])
    assert.equal(parseAddCheckpoint(wrong), undefined);
});

const entry: LedgerEntry = {
  v: 1,
  kind: "access_token",
  sha256: signingInputHash("a.b.c"),
  kid: "kid-1",
  time: 1_700_000_000,
  signer: "local",
  approvals: [],
};

test("an entry has one spelling, and a bundle gives its entries back", () => {
  const written = formatEntry(entry);
  assert.deepEqual(parseEntry(written), entry);
  const head: LedgerEntry = { v: 1, kind: "audit_head", seq: 7, hash: "h", time: 1 };
  assert.deepEqual(parseEntry(formatEntry(head)), head);
  for (const wrong of [
    ` ${written}`,
    written.replace('"v":1', '"v":2'),
    written.replace("access_token", "password"),
    written.replace('"local"', '"pool:"'),
    written.replace("}", ',"sub":"x"}'),
    written.replace("[]", '["x"]'),
    "null",
    "7",
    "{",
  ])
    assert.equal(parseEntry(wrong), undefined, wrong);
  const bundle = formatBundle([written, "", "ä"]);
  assert.deepEqual(parseBundle(bundle)?.map(String), [written, "", "ä"]);
  assert.equal(parseBundle(bundle.subarray(0, -1)), undefined);
  assert.equal(parseBundle(bundle.subarray(0, 1)), undefined);
  assert.throws(() => formatBundle(["x".repeat(65_536)]), RangeError);
});

test("the hash of a token is of all but its signature", () => {
  assert.equal(signingInputHash("a.b.c"), signingInputHash("a.b.d"));
  assert.notEqual(signingInputHash("a.b.c"), signingInputHash("a.x.c"));
});

test("a proof as text gives the same proof back", () => {
  const proof = { entry: formatEntry(entry), index: 0, proof: [Buffer.alloc(32, 3)], checkpoint };
  assert.deepEqual(parseLedgerProof(formatLedgerProof(proof)), proof);
  const written = formatLedgerProof(proof);
  for (const wrong of [
    "",
    written.replace("@v1", "@v2"),
    written.replace("index 0", "index 00"),
    written.slice(0, 40),
  ])
    assert.equal(parseLedgerProof(wrong), undefined);
});
