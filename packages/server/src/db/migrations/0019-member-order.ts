/** Members sorted by email address: the search key begins with it, and a prefix keeps index rows small. */
import type { Migration } from "./migration.ts";

export const memberOrder: Migration = {
  name: "0019-member-order",
  statements: ["create index membership_email on membership (org_id, substr(search_key, 1, 100), user_id)"],
};
