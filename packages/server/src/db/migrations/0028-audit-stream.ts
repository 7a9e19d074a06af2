/** How far each organisation's audit log has been sent to the audit stream. */
import type { Migration } from "./migration.ts";

export const auditStream: Migration = {
  name: "0028-audit-stream",
  statements: [
    "alter table audit_chain add column streamed_seq bigint not null default 0",
    "create index audit_chain_unsent on audit_chain (org_id) where seq > streamed_seq",
  ],
};
