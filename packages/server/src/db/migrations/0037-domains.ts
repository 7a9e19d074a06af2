/** Domains with their proof by DNS, and break-glass administrators (connections.md §1, §4, §6). */
import type { Migration } from "./migration.ts";

export const domains: Migration = {
  name: "0037-domains",
  statements: [
    `create table domain (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, domain text not null, connection_id text, enforced smallint not null,
      token text not null, state text not null, last_error text, missing_since bigint, next_check_at bigint not null,
      created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id),
      foreign key (org_id, connection_id) references connection (org_id, id))`,
    "create unique index domain_name on domain (org_id, domain)",
    "create index domain_connection on domain (org_id, connection_id)",
    "create index domain_check on domain (next_check_at)",

    `create table break_glass_account (
      org_id text not null, user_id text not null, created_at bigint not null, created_by text not null,
      primary key (org_id, user_id),
      foreign key (org_id, user_id) references user_account (org_id, id) on delete cascade)`,
  ],
};
