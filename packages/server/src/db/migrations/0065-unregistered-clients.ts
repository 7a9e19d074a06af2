/** Clients that nobody has registered by hand: by a metadata document at their client_id, and by dynamic registration (RFC 7591). */
import type { Migration } from "./migration.ts";

export const unregisteredClients: Migration = {
  name: "0065-unregistered-clients",
  statements: [
    "alter table application add column source text not null default 'registered'",
    `create table client_registration (
      org_id text not null, application_id text not null, token_hash text not null, initial_token_id text not null,
      created_at bigint not null,
      primary key (org_id, application_id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,

    `create table client_metadata_policy (
      org_id text not null references organisation (id) on delete cascade,
      mode text not null, hosts text not null, allowed_scopes text not null, allowed_resources text not null,
      sender_constraint text not null, created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id))`,

    `create table initial_access_token (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, token_hash text not null, label text not null, enabled smallint not null,
      allowed_scopes text not null, allowed_resources text not null, grant_types text not null,
      max_uses integer not null, uses integer not null,
      created_at bigint not null, updated_at bigint not null, expires_at bigint not null, version bigint not null,
      primary key (org_id, id))`,
    "create unique index initial_access_token_hash on initial_access_token (org_id, token_hash)",
    "create index initial_access_token_expiry on initial_access_token (expires_at)",
  ],
};
