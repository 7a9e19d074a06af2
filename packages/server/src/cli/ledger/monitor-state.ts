/** What a monitor remembers of a ledger between two runs: the edge of the tree, from which everything later must grow. */
import { randomUUID } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import { formatEntry, type LedgerEntry } from "@signet/protocol/ledger/entry";
import {
  appendLeaves,
  emptyEdge,
  HASH_BYTES,
  leafHash,
  rootOf,
  TILE_WIDTH,
  type TreeEdge,
} from "@signet/protocol/ledger/merkle";

interface StoredState {
  readonly origin: string;
  readonly size: number;
  /** Base64, by level. */
  readonly partial: readonly string[];
}

/** @throws Error when the file is of another log, or not a state */
export async function readState(file: string, origin: string): Promise<{ readonly edge: TreeEdge }> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { edge: emptyEdge };
    throw error;
  }
  const state = JSON.parse(text) as StoredState;
  if (state.origin !== origin) throw new Error(`${file} is of another log: ${state.origin}`);
  const edge = { size: state.size, partial: state.partial.map((one) => Buffer.from(one, "base64")) };
  if (!isEdge(edge)) throw new Error(`${file} is damaged`);
  return { edge };
}

/** Whether the widths are those of the size. */
function isEdge({ size, partial }: TreeEdge): boolean {
  if (!Number.isSafeInteger(size) || size < 0) return false;
  let atLevel = size;
  for (const hashes of partial) {
    if (hashes.length !== (atLevel % TILE_WIDTH) * HASH_BYTES) return false;
    atLevel = Math.floor(atLevel / TILE_WIDTH);
  }
  return atLevel === 0;
}

/** On disk before it counts, and never half. */
export async function writeState(file: string, origin: string, { size, partial }: TreeEdge): Promise<void> {
  const state: StoredState = { origin, size, partial: partial.map((one) => one.toString("base64")) };
  const written = `${file}.${randomUUID()}`;
  const handle = await open(written, "wx", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(state)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(written, file);
}

/** Whether the entries begin with the tree that was seen. */
export function isPrefix(entries: readonly LedgerEntry[], before: TreeEdge): boolean {
  const leaves = entries.slice(0, before.size).map((entry) => leafHash(Buffer.from(formatEntry(entry))));
  return leaves.length === before.size && rootOf(appendLeaves(emptyEdge, leaves).edge).equals(rootOf(before));
}
