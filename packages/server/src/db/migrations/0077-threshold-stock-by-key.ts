/** An agent's unused nonce commitments of one key, counted and taken from the index alone. */
import type { Migration } from "./migration.ts";

export const thresholdStockByKey: Migration = {
  name: "0077-threshold-stock-by-key",
  statements: [
    "create index threshold_commitment_unused on threshold_commitment (org_id, agent_id, kid, created_at, hiding) where used_at is null",
    "drop index threshold_commitment_stock",
  ],
};
