/** Types of authorization details (RFC 9396), and the details that were granted. */
import type { Migration } from "./migration.ts";

export const authorizationDetails: Migration = {
  name: "0061-authorization-details",
  statements: [
    `create table authorization_detail_type (
      org_id text not null references organisation (id) on delete cascade, id text not null,
      type text not null, display_name text not null, template text not null, schema text not null,
      resource text, enabled integer not null,
      created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id))`,
    "create unique index authorization_detail_type_type on authorization_detail_type (org_id, type)",
    "alter table authorization_code add column authorization_details text",
    "alter table token_family add column authorization_details text",
  ],
};
