import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { formatCheckpoint } from "@signet/protocol/ledger/checkpoint";
import { emptyRoot } from "@signet/protocol/ledger/merkle";
import { cosignatureLine, rawPublicKey, signNote, type VerifierKey } from "@signet/protocol/ledger/note";
import { type LedgerTrust, requireTrusted } from "./follow-log.ts";

const origin = "log.example/a";
const keyOf = (name: string, type: 1 | 4) => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const verifier: VerifierKey = { name, type, publicKey: rawPublicKey(privateKey) };
  return { name, privateKey, verifier };
};
const [log, one, two] = [keyOf(origin, 1), keyOf("w.example/1", 4), keyOf("w.example/2", 4)];
const text = formatCheckpoint({ origin, size: 0, root: emptyRoot() });
const cosigned = (...lines: readonly string[]) =>
  `${signNote(text, log)}${lines.map((line) => `${line}\n`).join("")}`;
const trust = (more: Partial<LedgerTrust>): LedgerTrust => ({
  ...{ log: log.verifier, witnesses: [one.verifier, two.verifier], quorum: 1, since: 1_000, until: 2_000 },
  ...more,
});

test("counts each witness once, by a cosignature of the right time", () => {
  const [first, second] = [cosignatureLine(text, one, 1_500), cosignatureLine(text, two, 1_500)];
  assert.equal(requireTrusted(cosigned(first), trust({})).size, 0);
  assert.equal(requireTrusted(cosigned(first, second), trust({ quorum: 2 })).size, 0);
  const refused = (note: string, code: string, more: Partial<LedgerTrust> = {}) =>
    assert.throws(() => requireTrusted(note, trust(more)), { code });
  refused(cosigned(first, first), "too-few-witnesses", { quorum: 2 });
  refused(cosigned(first), "too-few-witnesses", { witnesses: [two.verifier] });
  refused(cosigned(cosignatureLine(text, one, 999)), "stale");
  // It would be as fresh as one can be for ever.
  refused(cosigned(cosignatureLine(text, one, 2_001)), "stale");
  refused(cosigned(cosignatureLine(`${text}x\n`, one, 1_500)), "too-few-witnesses");
});

test("a note of another log, or of another key under its name, is refused", () => {
  const other = keyOf(origin, 1);
  assert.throws(() => requireTrusted(signNote(text, other), trust({ quorum: 0 })), { code: "bad-signature" });
  const elsewhere = formatCheckpoint({ origin: "log.example/b", size: 0, root: emptyRoot() });
  assert.throws(() => requireTrusted(signNote(elsewhere, log), trust({ quorum: 0 })), {
    ...{ code: "bad-checkpoint" },
  });
});
