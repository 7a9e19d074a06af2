/** Ledgers of signatures (threshold-and-ledger.md §2). */
import type { Migration } from "./migration.ts";

export const ledger: Migration = {
  name: "0060-ledger",
  statements: [
    `create table ledger_log (
      org_id text not null primary key, public_key text not null, private_key text not null,
      size bigint not null, checkpoint text, checkpoint_at bigint not null,
      witnessed text, witnessed_size bigint not null, witnessed_at bigint not null,
      audit_seq bigint not null, created_at bigint not null)`,
    `create table ledger_batch (
      org_id text not null, id text not null, entries text not null, primary key (org_id, id))`,
    `create table ledger_bundle (
      org_id text not null, bundle_index bigint not null, entries text not null,
      primary key (org_id, bundle_index))`,
    `create table ledger_tile (
      org_id text not null, level integer not null, tile_index bigint not null, hashes text not null,
      primary key (org_id, level, tile_index))`,
    `create table ledger_index (
      org_id text not null, input_hash text not null, leaf_index bigint not null,
      primary key (org_id, input_hash))`,
    `create table ledger_witness (
      org_id text not null, id text not null, url text not null, verifier_key text not null,
      cosigned_size bigint not null, cosigned_at bigint, last_error text, created_at bigint not null,
      primary key (org_id, id))`,
    "create unique index ledger_witness_key on ledger_witness (org_id, verifier_key)",
  ],
};
