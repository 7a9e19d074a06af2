/** Parts that agents are late with, without a look at those of a month. */
import type { Migration } from "./migration.ts";

export const thresholdPartsAwaited: Migration = {
  name: "0076-threshold-parts-awaited",
  statements: [
    "create index threshold_part_awaited on threshold_part (org_id, pool_id, until) where state in ('asked', 'handed')",
  ],
};
