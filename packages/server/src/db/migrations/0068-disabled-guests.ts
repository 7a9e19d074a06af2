/** An organisation disables its guests: the membership, and not the account, which is another organisation's. */
import type { Migration } from "./migration.ts";

export const disabledGuests: Migration = {
  name: "0068-disabled-guests",
  statements: ["alter table membership add column disabled_at bigint"],
};
