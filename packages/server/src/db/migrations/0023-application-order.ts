/** Applications sorted by name. */
import type { Migration } from "./migration.ts";

export const applicationOrder: Migration = {
  name: "0023-application-order",
  statements: ["create index application_name on application (org_id, lower(name), id)"],
};
