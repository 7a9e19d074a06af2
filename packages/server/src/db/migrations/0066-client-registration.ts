/** Clients that register themselves: initial access tokens, and what each registration may have (RFC 7591, RFC 7592). */
import type { Migration } from "./migration.ts";

export const clientRegistration: Migration = {
  name: "0066-client-registration",
  statements: [
    `create table initial_access_token (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, label text not null, token_hash text not null,
      allowed_scopes text not null, allowed_resources text not null, grant_types text not null,
      expires_at bigint not null, max_uses bigint not null, uses bigint not null, enabled smallint not null,
      created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id))`,
    "create unique index initial_access_token_hash on initial_access_token (org_id, token_hash)",
    "create index initial_access_token_expiry on initial_access_token (expires_at)",
    `create table client_registration (
      org_id text not null, application_id text not null, token_hash text not null, previous_hash text,
      allowed_scopes text not null, allowed_resources text not null, grant_types text not null,
      software_statement text, last_used_at bigint not null,
      primary key (org_id, application_id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index client_registration_use on client_registration (last_used_at)",
  ],
};
