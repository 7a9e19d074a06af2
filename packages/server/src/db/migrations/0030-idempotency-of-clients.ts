/** Clients of API v1 send `Idempotency-Key` too: what is kept no longer belongs to a system account alone. */
import type { Migration } from "./migration.ts";

export const idempotencyOfClients: Migration = {
  name: "0030-idempotency-of-clients",
  statements: [
    `create table idempotency_key_of_callers (
      org_id text not null, account_id text not null, key_hash text not null, request_hash text not null,
      status bigint, headers text, body text, created_at bigint not null, expires_at bigint not null,
      primary key (org_id, account_id, key_hash))`,
    "insert into idempotency_key_of_callers select * from idempotency_key",
    "drop table idempotency_key",
    "alter table idempotency_key_of_callers rename to idempotency_key",
    "create index idempotency_key_expiry on idempotency_key (expires_at)",
  ],
};
