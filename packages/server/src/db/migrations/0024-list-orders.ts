/** Service accounts and devices sorted by name. */
import type { Migration } from "./migration.ts";

export const listOrders: Migration = {
  name: "0024-list-orders",
  statements: [
    "create index system_account_name on system_account (org_id, lower(name), id)",
    "create index device_name on device (org_id, lower(name), id)",
  ],
};
