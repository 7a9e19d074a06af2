/** When a consent was first granted: lists are in its order, and adding scopes moves nothing. */
import type { Migration } from "./migration.ts";

export const firstGrants: Migration = {
  name: "0071-first-grants",
  statements: [
    // Null in what a node of an older version writes meanwhile.
    "alter table consent add column created_at bigint",
    "update consent set created_at = granted_at",
  ],
};
