/** Ledgers of signatures: entries on their way, the tree, who witnesses it (threshold-and-ledger.md §2). */

/** One log. The private key is sealed under the master key. */
export interface LedgerLogTable {
  org_id: string;
  public_key: string;
  private_key: string;
  size: number;
  /** The newest, a signed note with the cosignatures that have come; null for a log without entries. */
  checkpoint: string | null;
  checkpoint_at: number;
  /** The newest that enough witnesses have cosigned. */
  witnessed: string | null;
  witnessed_size: number;
  witnessed_at: number;
  /** Of the audit chain's head that the log has last. */
  audit_seq: number;
  created_at: number;
}

/** Entries that are not in the tree yet, those of one moment together; one in each line. */
export interface LedgerBatchTable {
  org_id: string;
  id: string;
  entries: string;
}

/** 256 entries, one in each line; the last bundle has fewer. */
export interface LedgerBundleTable {
  org_id: string;
  bundle_index: number;
  entries: string;
}

/** Hashes side by side, base64. */
export interface LedgerTileTable {
  org_id: string;
  level: number;
  tile_index: number;
  hashes: string;
}

/** Where the signature over an input is in the log. */
export interface LedgerIndexTable {
  org_id: string;
  input_hash: string;
  leaf_index: number;
}

export interface LedgerWitnessTable {
  org_id: string;
  id: string;
  /** The submission prefix of C2SP tlog-witness. */
  url: string;
  /** As in C2SP signed-note, type 4. */
  verifier_key: string;
  cosigned_size: number;
  cosigned_at: number | null;
  last_error: string | null;
  created_at: number;
}

export interface LedgerSchema {
  ledger_log: LedgerLogTable;
  ledger_batch: LedgerBatchTable;
  ledger_bundle: LedgerBundleTable;
  ledger_tile: LedgerTileTable;
  ledger_index: LedgerIndexTable;
  ledger_witness: LedgerWitnessTable;
}
