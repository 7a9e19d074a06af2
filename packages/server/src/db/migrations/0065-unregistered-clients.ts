/** Clients that nobody has registered by hand: by a metadata document at their client_id. */
import type { Migration } from "./migration.ts";

export const unregisteredClients: Migration = {
  name: "0065-unregistered-clients",
  statements: [
    "alter table application add column source text not null default 'registered'",
    `create table client_metadata_policy (
      org_id text not null references organisation (id) on delete cascade,
      mode text not null, hosts text not null, allowed_scopes text not null, allowed_resources text not null,
      sender_constraint text not null, created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id))`,
  ],
};
