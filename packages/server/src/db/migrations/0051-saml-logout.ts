/** Whom a SAML identity provider means at a logout: the NameID, which may be another than the subject (connections.md §2). */
import type { Migration } from "./migration.ts";

export const samlLogout: Migration = {
  name: "0051-saml-logout",
  statements: [
    "alter table upstream_sign_in add column name_id_hash text",
    `create index upstream_sign_in_name_id on upstream_sign_in (org_id, connection_id, name_id_hash)
      where name_id_hash is not null`,
  ],
};
