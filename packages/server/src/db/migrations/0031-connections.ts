/** Connections to an organisation's own directory, which provisions users by SCIM. */
import type { Migration } from "./migration.ts";

export const connections: Migration = {
  name: "0031-connections",
  statements: [
    `create table connection (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, kind text not null, name text not null, enabled smallint not null,
      deletion_policy text not null, created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id))`,

    `create table connection_token (
      org_id text not null, id text not null, connection_id text not null, token_hash text not null,
      label text not null, created_at bigint not null, expires_at bigint, last_used_at bigint,
      primary key (org_id, id),
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade)`,
    "create unique index connection_token_hash on connection_token (org_id, token_hash)",
    "create index connection_token_connection on connection_token (org_id, connection_id)",

    `create table connection_call (
      org_id text not null, connection_id text not null, id text not null, at bigint not null,
      method text not null, path text not null, status integer not null, scim_type text,
      primary key (org_id, connection_id, id),
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade)`,

    // Goes with the account, and with the connection: then the user is the organisation's own.
    `create table scim_user (
      org_id text not null, user_id text not null, connection_id text not null,
      user_name text not null, user_name_key text not null, external_id text, resource text not null,
      deleted_at bigint, updated_at bigint not null, version bigint not null,
      primary key (org_id, user_id),
      foreign key (org_id, user_id) references user_account (org_id, id) on delete cascade,
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade)`,
    "create unique index scim_user_name on scim_user (org_id, connection_id, user_name_key)",
    `create unique index scim_user_external_id on scim_user (org_id, connection_id, external_id)
      where external_id is not null`,
  ],
};
