/** Issuers of others that an organisation trusts (modern-oauth.md §6). */
import type { Migration } from "./migration.ts";

export const trusts: Migration = {
  name: "0058-trusts",
  statements: [
    `create table trust (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, kind text not null, client_id text, issuer text not null, jwks text, jwks_uri text,
      audience text, subject_pattern text, claims text not null, single_use smallint not null,
      max_lifetime_seconds bigint not null, connection_id text, user_by text not null, enabled smallint not null,
      created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id),
      foreign key (org_id, client_id) references application (org_id, id) on delete cascade,
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade)`,
    "create index trust_issuer on trust (org_id, issuer)",
    "create index trust_client on trust (org_id, client_id)",
    "create index trust_connection on trust (org_id, connection_id)",
  ],
};
