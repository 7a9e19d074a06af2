/** One-time links to the connection pages, for people without an account (connections.md §1). */
import type { Migration } from "./migration.ts";

export const portalLinks: Migration = {
  name: "0063-portal-links",
  statements: [
    `create table portal_link (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, token_hash text not null, purposes text not null, scopes text not null,
      return_url text, opened_at bigint, session_hash text, ends_at bigint not null,
      created_by text not null, created_at bigint not null, updated_at bigint not null,
      primary key (org_id, id))`,
    "create index portal_link_token on portal_link (token_hash)",
    "create unique index portal_link_session on portal_link (org_id, session_hash) where session_hash is not null",
    "create index portal_link_end on portal_link (ends_at)",
  ],
};
