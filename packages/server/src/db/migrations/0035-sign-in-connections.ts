/** Connections to identity providers: their settings, who is linked to whom, and sign-ins under way and done. */
import type { Migration } from "./migration.ts";

export const signInConnections: Migration = {
  name: "0035-sign-in-connections",
  statements: [
    "alter table connection add column settings text",
    "alter table connection add column secret text",
    // Null for directories, whose names may be alike.
    "alter table connection add column name_key text",
    "create unique index connection_name on connection (org_id, name_key)",

    `create table linked_identity (
      org_id text not null, connection_id text not null, subject text not null, user_id text not null,
      created_at bigint not null, last_sign_in_at bigint not null,
      primary key (org_id, connection_id, subject),
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade,
      foreign key (org_id, user_id) references membership (org_id, user_id) on delete cascade)`,
    "create unique index linked_identity_user on linked_identity (org_id, user_id, connection_id)",

    `create table connection_start (
      org_id text not null, state_hash text not null, connection_id text not null, browser_hash text not null,
      flow text not null, created_at bigint not null, expires_at bigint not null,
      primary key (org_id, state_hash),
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade)`,
    "create index connection_start_expiry on connection_start (expires_at)",
    "create index connection_start_connection on connection_start (org_id, connection_id)",

    `create table connection_sign_in (
      org_id text not null, connection_id text not null, id text not null, at bigint not null,
      outcome text not null, reason text, detail text, subject text, email text, reference text not null,
      expires_at bigint not null,
      primary key (org_id, connection_id, id),
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade)`,
    "create index connection_sign_in_expiry on connection_sign_in (expires_at)",
  ],
};
