/** Which tokens clients may exchange, and what an exchanged token ends with (RFC 8693; modern-oauth.md §5, §6). */
import type { Migration } from "./migration.ts";

export const tokenExchange: Migration = {
  name: "0064-token-exchange",
  statements: [
    `create table token_exchange_policy (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, name text not null, client_id text not null, subject_client_ids text not null,
      requested_token_type text not null, target text not null, foreign_client_id text, scopes text not null,
      impersonation smallint not null, max_lifetime_seconds bigint not null, enabled smallint not null,
      created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id),
      foreign key (org_id, client_id) references application (org_id, id) on delete cascade)`,
    "create index token_exchange_policy_client on token_exchange_policy (org_id, client_id)",
    "alter table token_family add column ancestors text",
  ],
};
