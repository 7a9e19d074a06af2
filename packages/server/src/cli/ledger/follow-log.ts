/**
 * Reads a ledger as anybody outside can, and believes nothing of it: the whole tree is computed from its entries, on top of what
 * was computed before, and must have the root that the log and its witnesses signed.
 */
import { parseSignedCheckpoint, type SignedCheckpoint } from "@signet/protocol/ledger/checkpoint";
import { type LedgerEntry, parseBundle, parseEntry } from "@signet/protocol/ledger/entry";
import { appendLeaves, leafHash, rootOf, TILE_WIDTH, type TreeEdge } from "@signet/protocol/ledger/merkle";
import { cosignedAt, isSignedBy, type VerifierKey } from "@signet/protocol/ledger/note";
import { formatTilePath } from "@signet/protocol/ledger/tile-path";

export type LedgerFaultCode =
  | "unreachable"
  | "bad-checkpoint"
  | "bad-signature"
  | "too-few-witnesses"
  | "stale"
  | "rolled-back"
  | "forked"
  | "bad-entries";

/** Why a ledger cannot be believed. */
export class LedgerFault extends Error {
  override readonly name = "LedgerFault";
  readonly code: LedgerFaultCode;
  constructor(code: LedgerFaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** @throws LedgerFault unreachable. @param path below the ledger's address */
export type ReadLedger = (path: string) => Promise<Buffer>;

export interface LedgerTrust {
  readonly log: VerifierKey;
  readonly witnesses: readonly VerifierKey[];
  /** How many of them must have cosigned. */
  readonly quorum: number;
  /** The oldest cosignature that counts, seconds since the epoch; 0: any. */
  readonly since: number;
  /** The latest: one of the future would never grow old. */
  readonly until: number;
}

export interface FollowedLog {
  readonly checkpoint: SignedCheckpoint;
  /** Of the whole tree, as computed here. */
  readonly edge: TreeEdge;
  /** How many entries were read. */
  readonly read: number;
}

/** @throws LedgerFault */
export function requireTrusted(
  text: string,
  { log, witnesses, quorum, since, until }: LedgerTrust,
): SignedCheckpoint {
  const checkpoint = parseSignedCheckpoint(text);
  if (!checkpoint) throw new LedgerFault("bad-checkpoint", "the checkpoint is malformed");
  if (checkpoint.origin !== log.name)
    throw new LedgerFault("bad-checkpoint", `the checkpoint is of another log: ${checkpoint.origin}`);
  if (!isSignedBy(checkpoint.note, log))
    throw new LedgerFault("bad-signature", "the checkpoint is not signed with the key of the log");
  const times = witnesses.flatMap((witness) => cosignedAt(checkpoint.note, witness) ?? []);
  if (times.length < quorum)
    throw new LedgerFault(
      "too-few-witnesses",
      `${times.length} of ${quorum} witnesses have cosigned the checkpoint`,
    );
  if (times.filter((time) => time >= since && time <= until).length < quorum)
    throw new LedgerFault("stale", "the cosignatures of the checkpoint are too old, or of the future");
  return checkpoint;
}

/**
 * @param before what an earlier call has computed: the tree must continue it
 * @param onEntry each new entry, with its place
 * @throws LedgerFault
 */
export async function followLog(
  read: ReadLedger,
  trust: LedgerTrust,
  before: TreeEdge,
  onEntry: (entry: LedgerEntry, index: number) => void = () => {},
): Promise<FollowedLog> {
  const checkpoint = requireTrusted((await read("checkpoint")).toString(), trust);
  const { size, root } = checkpoint;
  if (size < before.size)
    throw new LedgerFault("rolled-back", `the log has ${size} entries, and had ${before.size} before`);
  let edge = before;
  for (let index = Math.floor(before.size / TILE_WIDTH); index * TILE_WIDTH < size; index++) {
    const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
    const entries = parseBundle(await read(formatTilePath({ level: "entries", index, width })));
    if (entries?.length !== width) throw new LedgerFault("bad-entries", `bundle ${index} is not whole`);
    const known = Math.max(0, edge.size - index * TILE_WIDTH);
    const added = entries.slice(known);
    for (const [at, bytes] of added.entries()) {
      const entry = parseEntry(bytes.toString());
      if (!entry) throw new LedgerFault("bad-entries", `entry ${edge.size + at} is malformed`);
      onEntry(entry, edge.size + at);
    }
    ({ edge } = appendLeaves(edge, added.map(leafHash)));
  }
  if (!rootOf(edge).equals(root))
    throw new LedgerFault(
      "forked",
      before.size === 0
        ? "the entries do not have the root of the checkpoint"
        : "the checkpoint does not continue what was seen before: the log shows different histories",
    );
  return { checkpoint, edge, read: edge.size - before.size };
}
