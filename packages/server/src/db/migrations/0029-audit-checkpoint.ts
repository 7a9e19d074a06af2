/** Where retention cut the audit chains. */
import type { Migration } from "./migration.ts";

export const auditCheckpoint: Migration = {
  name: "0029-audit-checkpoint",
  statements: [
    `create table audit_checkpoint (
      org_id text primary key, seq bigint not null, hash text not null, events bigint not null,
      cut_at bigint not null, until bigint not null, mac text not null
    )`,
  ],
};
