/** The end of an organisation: when, and whether its audit log has been kept. */
import type { Migration } from "./migration.ts";

export const organisationDeletion: Migration = {
  name: "0026-organisation-deletion",
  statements: [
    "alter table organisation add column delete_after bigint",
    "alter table organisation add column audit_exported_at bigint",
    "create index organisation_delete_after on organisation (delete_after) where delete_after is not null",
  ],
};
