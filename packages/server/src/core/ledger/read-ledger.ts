/** Reading a log: checkpoints, tiles, bundles, and the proof that a signature is in it. */

import { parseSignedCheckpoint } from "@signet/protocol/ledger/checkpoint";
import { formatBundle } from "@signet/protocol/ledger/entry";
import {
  HASH_BYTES,
  inclusionProof,
  type ReadTile,
  TILE_WIDTH,
  tileWidth,
} from "@signet/protocol/ledger/merkle";
import type { LedgerProof } from "@signet/protocol/ledger/proof";
import type { TilePath } from "@signet/protocol/ledger/tile-path";
import type { Db } from "../../db/open.ts";
import { findBundle, findLog, findPlace, findTile } from "./append.store.ts";
import { listWitnesses } from "./witnesses.store.ts";

export const tileReader =
  (db: Db, orgId: string): ReadTile =>
  async (level, index, width) => {
    const hashes = await findTile(db, { orgId, level, index });
    if (!hashes || hashes.length < width * HASH_BYTES) throw new Error(`tile ${level}/${index} is missing`);
    return hashes;
  };

/**
 * The newest checkpoint that enough witnesses have cosigned; without witnesses, and as long as they have cosigned none, the newest.
 * @returns undefined for a log without entries
 */
export async function publishedCheckpoint(db: Db, orgId: string): Promise<string | undefined> {
  const log = await findLog(db, orgId);
  if (!log) return undefined;
  const isWitnessed = log.witnessed !== null && (await listWitnesses(db, orgId)).length > 0;
  return (isWitnessed ? log.witnessed : log.checkpoint) ?? undefined;
}

/** The bytes of a tile or bundle; undefined when the log never had a checkpoint with it. */
export async function readTile(
  db: Db,
  orgId: string,
  { level, index, width }: TilePath,
): Promise<Buffer | undefined> {
  const log = await findLog(db, orgId);
  if (!log || tileWidth(log.size, level === "entries" ? 0 : level, index) < width) return undefined;
  if (level === "entries") {
    const entries = await findBundle(db, orgId, index);
    return entries && formatBundle(entries.slice(0, width));
  }
  return (await findTile(db, { orgId, level, index }))?.subarray(0, width * HASH_BYTES);
}

/** `not-logged`: not (yet) in the log. `not-witnessed`: in the log, in no checkpoint that enough witnesses have cosigned. */
export type ProofRefusal = "not-logged" | "not-witnessed";

/** @param inputHash SHA-256 of the signing input, base64url */
export async function proveSignature(
  db: Db,
  orgId: string,
  inputHash: string,
): Promise<LedgerProof | ProofRefusal> {
  const index = await findPlace(db, orgId, inputHash);
  const log = index === undefined ? undefined : await findLog(db, orgId);
  if (index === undefined || !log) return "not-logged";
  const isWitnessed = (await listWitnesses(db, orgId)).length > 0;
  const checkpoint = isWitnessed ? log.witnessed : log.checkpoint;
  const size = checkpoint === null ? 0 : (parseSignedCheckpoint(checkpoint)?.size ?? 0);
  if (checkpoint === null || size <= index) return "not-witnessed";
  const bundle = await findBundle(db, orgId, Math.floor(index / TILE_WIDTH));
  const entry = bundle?.[index % TILE_WIDTH];
  if (entry === undefined) throw new Error(`entry ${index} of the ledger of ${orgId} is missing`);
  return { entry, index, checkpoint, proof: await inclusionProof(tileReader(db, orgId), index, size) };
}
