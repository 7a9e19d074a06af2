import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import {
  cosignatureLine,
  cosignedAt,
  formatVerifierKey,
  isSignedBy,
  parseNote,
  parseSignatures,
  parseVerifierKey,
  rawPublicKey,
  signNote,
} from "./note.ts";

/** The example of Go's golang.org/x/mod/sumdb/note. */
const text =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const vkey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const seed = "gQoUAtUUbI2E8kQzMPVAgOv5juF9nHT2JS/F1ccoMXM=";
const signed = `${text}\n\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`;

const key = (() => {
  const parsed = parseVerifierKey(vkey);
  assert.ok(parsed);
  return parsed;
})();

const noteOf = (note: string) => {
  const parsed = parseNote(note);
  assert.ok(parsed);
  return parsed;
};

test("verifies and makes Go's example, byte by byte", () => {
  assert.equal(formatVerifierKey(key), vkey);
  assert.equal(isSignedBy(noteOf(signed), key), true);
  assert.equal(isSignedBy(noteOf(signed.replace("answer", "Answer")), key), false);
  const der = Buffer.concat([
    Buffer.from("302e020100300506032b657004220420", "hex"),
    Buffer.from(seed, "base64"),
  ]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  assert.equal(signNote(text, { name: "PeterNeumann", privateKey }), signed);
});

test("a key of another name, type, id or length is none", () => {
  for (const wrong of [
    vkey.replace("c74f20a3", "c74f20a4"),
    vkey.replace("Peter", "Paul"),
    vkey.replace("+AR", "+Ah"),
    vkey.slice(0, -4),
    `${vkey}AAAA`,
    vkey.replace("PeterNeumann", "Peter Neumann"),
    "",
    "x".repeat(10_000),
  ])
    assert.equal(parseVerifierKey(wrong), undefined, wrong);
});

test("what is no note is refused, whatever it looks like", () => {
  for (const wrong of [
    "",
    text,
    `${text}\n`,
    signed.slice(0, -1),
    signed.replace("\u2014 ", "- "),
    signed.replace("\u2014 ", "\u2014  "),
    signed.replace("BwJnAM=", "BwJnAN="),
    signed.replace("If you", "If\tyou"),
    signed.replace("If you", "If \ud800you"),
    signed + "x".repeat(70_000),
    `${signed}${"\u2014 a AAAAAAAA\n".repeat(101)}`,
  ])
    assert.equal(parseNote(wrong), undefined);
});

test("a witness's signature covers the time and the text", () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const witness = { name: "witness.example/w1", type: 4, publicKey: rawPublicKey(privateKey) } as const;
  const line = cosignatureLine(text, { name: witness.name, privateKey }, 1_679_315_147);
  const note = noteOf(`${signed}${line}\n`);
  assert.equal(cosignedAt(note, witness), 1_679_315_147);
  assert.equal(isSignedBy(note, key), true, "other signatures are left alone");
  assert.equal(isSignedBy(note, witness), false, "a cosignature is no signature of the note");
  assert.equal(cosignedAt({ ...note, text: `${text}x\n` }, witness), undefined);
  assert.equal(cosignedAt(note, { ...witness, name: "witness.example/w2" }), undefined);
  const stamp = parseSignatures(`${line}\n`)?.[0]?.bytes ?? Buffer.alloc(0);
  stamp[7] = (stamp[7] ?? 0) ^ 1;
  const [signature] = parseSignatures(`${line}\n`) ?? [];
  assert.ok(signature);
  assert.equal(cosignedAt({ text, signatures: [{ ...signature, bytes: stamp }] }, witness), undefined);
});
