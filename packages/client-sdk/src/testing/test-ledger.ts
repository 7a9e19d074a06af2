/** A ledger in the same process: what it says of itself can be made wrong. */
import { generateKeyPairSync } from "node:crypto";
import { formatCheckpoint } from "@signet/protocol/ledger/checkpoint";
import { type EntryKind, formatEntry, signingInputHash } from "@signet/protocol/ledger/entry";
import {
  appendLeaves,
  emptyEdge,
  inclusionProof,
  leafHash,
  rootOf,
  type Tile,
} from "@signet/protocol/ledger/merkle";
import {
  cosignatureLine,
  formatVerifierKey,
  type NoteKeyType,
  rawPublicKey,
  signNote,
} from "@signet/protocol/ledger/note";
import { formatLedgerProof, type LedgerProof } from "@signet/protocol/ledger/proof";

export const LEDGER_NAME = "id.example/ledger/0197aaaa-0000-7000-8000-000000000001";

export const ledgerKey = (name: string, type: NoteKeyType) => {
  const { privateKey } = generateKeyPairSync("ed25519");
  return { name, privateKey, text: formatVerifierKey({ name, type, publicKey: rawPublicKey(privateKey) }) };
};

export type TestLedger = ReturnType<typeof createTestLedger>;

export function createTestLedger() {
  const log = ledgerKey(LEDGER_NAME, 1);
  const witnesses = [1, 2, 3].map((count) => ledgerKey(`w${count}.example`, 4));
  const entries: string[] = [];
  const ledger = {
    ...{ log, witnesses, entries },
    /** Who cosigns. */
    cosigners: witnesses,
    add: (token: string, { kid = "key-1", kind = "access_token" as EntryKind } = {}) => {
      const entry = {
        v: 1,
        kind,
        sha256: signingInputHash(token),
        kid,
        time: 1,
        signer: "local",
        approvals: [],
      } as const;
      entries.push(formatEntry(entry));
    },
    proofOf: async (sha256: string): Promise<LedgerProof | undefined> => {
      const index = entries.findIndex((entry) => entry.includes(`"${sha256}"`));
      const entry = entries[index];
      if (entry === undefined) return undefined;
      const { edge, tiles } = appendLeaves(
        emptyEdge,
        entries.map((one) => leafHash(Buffer.from(one))),
      );
      const read = async (level: number, at: number) => tileOf(tiles, level, at);
      const root = rootOf(edge);
      const text = formatCheckpoint({ origin: LEDGER_NAME, size: edge.size, root });
      const lines = ledger.cosigners.map((one) => `${cosignatureLine(text, one, 1_767_225_600)}\n`);
      const checkpoint = `${signNote(text, log)}${lines.join("")}`;
      return { entry, index, proof: await inclusionProof(read, index, edge.size), checkpoint };
    },
    /** As the service answers `/proof`. */
    answer: async (sha256: string): Promise<Response> => {
      const proof = await ledger.proofOf(sha256);
      if (proof) return new Response(formatLedgerProof(proof), { headers: { "content-type": "text/plain" } });
      return refusal("not-logged");
    },
  };
  return ledger;
}

export const refusal = (code: string): Response =>
  new Response(JSON.stringify({ type: `urn:signet:error:${code}`, status: 404 }), {
    status: 404,
    headers: { "content-type": "application/problem+json" },
  });

function tileOf(tiles: readonly Tile[], level: number, index: number): Buffer {
  const tile = tiles.find((one) => one.level === level && one.index === index);
  if (!tile) throw new Error("no such tile");
  return tile.hashes;
}
