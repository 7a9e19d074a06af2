/** Who has taken a consent back. */
import type { Migration } from "./migration.ts";

export const consentRevokedBy: Migration = {
  name: "0008-consent-revoked-by",
  // Null where it was taken back before this step, too: the audit log has it.
  statements: ["alter table consent add column revoked_by text"],
};
