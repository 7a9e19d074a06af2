/** Protected resources (RFC 8707, RFC 9728), the scopes that belong to them, and their opaque access tokens. */
import type { Migration } from "./migration.ts";

export const protectedResources: Migration = {
  name: "0059-protected-resources",
  statements: [
    `create table protected_resource (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, identifier text not null, name text not null, enabled smallint not null,
      access_token_format text not null, access_token_lifetime_seconds integer, access_token_alg text,
      sender_constraint text not null, application_id text, agent_denied_scopes text not null,
      created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id))`,
    "create unique index protected_resource_identifier on protected_resource (org_id, identifier)",
    "alter table custom_scope add column resource_id text",

    `create table opaque_access_token (
      org_id text not null, token_hash text not null, application_id text not null, claims text not null,
      expires_at bigint not null,
      primary key (org_id, token_hash),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index opaque_access_token_application on opaque_access_token (org_id, application_id)",
    "create index opaque_access_token_expiry on opaque_access_token (expires_at)",
  ],
};
