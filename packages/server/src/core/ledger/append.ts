/**
 * Appending what was recorded to the tree, and signing the checkpoint, in one transaction that holds the log's row: a checkpoint
 * that was ever signed and shown is of leaves that are stored. A node that dies leaves a whole batch or nothing.
 */
import { formatCheckpoint } from "@signet/protocol/ledger/checkpoint";
import { formatEntry, parseEntry } from "@signet/protocol/ledger/entry";
import { appendLeaves, leafHash, rootOf, TILE_WIDTH } from "@signet/protocol/ledger/merkle";
import { signNote } from "@signet/protocol/ledger/note";
import type { Db } from "../../db/open.ts";
import { findHead } from "../audit/chain/chain.store.ts";
import { seconds } from "../clock.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Encryption } from "../encryption/encryption.ts";
import {
  addToIndex,
  type Batch,
  changeLog,
  deleteBatches,
  findBatches,
  findBundle,
  findLog,
  insertLog,
  lockLog,
  nextOrganisationToAppend,
  putBundle,
  putTile,
  readEdge,
} from "./append.store.ts";
import { type LedgerLog, ledgerOrigin } from "./ledger-log.ts";
import { newLogKey, openLogKey } from "./log-key.ts";

export interface AppendDeps extends CoreDeps {
  readonly baseUrl: string;
  readonly encryption: Encryption;
}

/** Of one transaction: SQLite's event loop waits for it. */
const MAX_BATCHES = 100;
const MAX_ENTRIES = 2_000;

/** The log of an organisation, made at the first need. */
export async function openLog(
  { database, clock, encryption }: AppendDeps,
  orgId: string,
): Promise<LedgerLog> {
  const found = await findLog(database.query, orgId);
  if (found) return found;
  const now = clock();
  await insertLog(database.query, {
    ...{ orgId, ...newLogKey(encryption, orgId), size: 0, checkpoint: null, checkpointAt: 0 },
    ...{ witnessed: null, witnessedSize: 0, witnessedAt: 0, auditSeq: 0, createdAt: now },
  });
  const made = await findLog(database.query, orgId);
  if (!made) throw new Error("the ledger could not be made");
  return made;
}

export interface Appended {
  /** Entries. */
  readonly count: number;
  /** As much as one transaction takes: there may be more. */
  readonly isFull: boolean;
}

/** At most the entries of some rows. */
export async function appendBatches(deps: AppendDeps, orgId: string): Promise<Appended> {
  await openLog(deps, orgId);
  return deps.database.transaction(async (tx) => {
    const log = await lockLog(tx, orgId);
    // Read after locking, so that what another node has just appended is excluded.
    const all = log ? await findBatches(tx, orgId, MAX_BATCHES) : [];
    const found = firstBatches(all);
    if (!log || found.length === 0) return { count: 0, isFull: false };
    const head = await auditHead(tx, log, seconds(deps.clock()));
    const entries = [...(head ? [head.entry] : []), ...found.flatMap((batch) => batch.entries)];
    const root = await growTree(tx, log, entries);
    const size = log.size + entries.length;
    const ids = found.map(({ id }) => id);
    if (!(await deleteBatches(tx, orgId, ids))) throw new Error("entries were deleted while being appended");
    const origin = ledgerOrigin(deps.baseUrl, orgId);
    const signer = { name: origin, privateKey: openLogKey(deps.encryption, log) };
    const checkpoint = signNote(formatCheckpoint({ origin, size, root }), signer);
    const at = { checkpointAt: deps.clock(), auditSeq: head?.seq ?? log.auditSeq };
    await changeLog(tx, orgId, { size, checkpoint, ...at });
    const isFull = all.length === MAX_BATCHES || found.length < all.length;
    return { count: entries.length, isFull };
  });
}

/** At least one, and no more than have so many entries together. */
function firstBatches(batches: readonly Batch[]): readonly Batch[] {
  let [count, taken] = [0, 0];
  for (const { entries } of batches) {
    count += entries.length;
    if (taken > 0 && count > MAX_ENTRIES) break;
    taken++;
  }
  return batches.slice(0, taken);
}

/** The caller has locked the log, and says how large it is then. @returns the new root */
export async function growTree(tx: Db, log: LedgerLog, entries: readonly string[]): Promise<Buffer> {
  const { orgId, size } = log;
  const leaves = entries.map((entry) => leafHash(Buffer.from(entry)));
  const { edge, tiles } = appendLeaves(await readEdge(tx, log), leaves);
  for (const tile of tiles) await putTile(tx, orgId, tile);
  let index = Math.floor(size / TILE_WIDTH);
  const inBundle = size % TILE_WIDTH;
  const before = inBundle === 0 ? [] : await findBundle(tx, orgId, index);
  if (before?.length !== inBundle) throw new Error(`bundle ${index} of the ledger of ${orgId} is not whole`);
  const all = [...before, ...entries];
  for (let at = 0; at < all.length; at += TILE_WIDTH)
    await putBundle(tx, orgId, { index: index++, entries: all.slice(at, at + TILE_WIDTH) });
  const places = entries.flatMap((entry, at) => {
    const parsed = parseEntry(entry);
    return parsed && "sha256" in parsed ? [{ inputHash: parsed.sha256, leafIndex: size + at }] : [];
  });
  await addToIndex(tx, orgId, places);
  return rootOf(edge);
}

/** The head of the audit chain, when it has moved since the log has it. */
async function auditHead(tx: Db, { orgId, auditSeq }: LedgerLog, time: number) {
  const head = await findHead(tx, orgId);
  if (!head || head.seq <= auditSeq) return undefined;
  const { seq, hash } = head;
  return { seq, entry: formatEntry({ v: 1, kind: "audit_head", seq, hash, time }) };
}

export interface AppendRoundDeps extends AppendDeps {
  /** Called for each log that has grown. */
  grown(orgId: string): void;
  /** Called when an organisation's entries can't be appended; others continue. */
  failed(orgId: string, error: unknown): void;
  isStopped(): boolean;
}

/** Some rows of each organisation, so that none waits for another's backlog. */
export async function appendRound(deps: AppendRoundDeps): Promise<Appended> {
  let [count, isFull] = [0, false];
  let orgId: string | undefined = "";
  for (;;) {
    if (deps.isStopped()) return { count, isFull };
    orgId = await nextOrganisationToAppend(deps.database.query, orgId);
    if (orgId === undefined) return { count, isFull };
    try {
      const appended = await appendBatches(deps, orgId);
      count += appended.count;
      isFull ||= appended.isFull;
      if (appended.count > 0) deps.grown(orgId);
    } catch (error) {
      deps.failed(orgId, error);
    }
  }
}
