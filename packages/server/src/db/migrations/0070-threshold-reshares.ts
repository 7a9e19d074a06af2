/** Resharing of a threshold pool's key: ceremonies that deal a key to other members, and rounds that know whose shares they are for. */
import type { Migration } from "./migration.ts";

export const thresholdReshares: Migration = {
  name: "0070-threshold-reshares",
  statements: [
    "alter table threshold_ceremony add column kind text not null default 'create'",
    "alter table threshold_ceremony add column from_ceremony text",
    "alter table threshold_ceremony add column members text",
    "alter table threshold_part add column ceremony_id text",
  ],
};
