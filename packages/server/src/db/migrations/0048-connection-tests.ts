/** Test sign-ins at an identity provider: what came back, sealed, for an hour (connections.md §1). */
import type { Migration } from "./migration.ts";

export const connectionTests: Migration = {
  name: "0048-connection-tests",
  statements: [
    `create table connection_test (
      org_id text not null, id text not null, connection_id text not null, actor text not null,
      link_hash text not null, opened_at bigint, state_hash text, browser_hash text,
      outcome text not null, reason text, result text, created_at bigint not null, expires_at bigint not null,
      primary key (org_id, id),
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade)`,
    "create unique index connection_test_link on connection_test (org_id, link_hash)",
    `create unique index connection_test_state on connection_test (org_id, state_hash)
      where state_hash is not null`,
    "create index connection_test_connection on connection_test (org_id, connection_id)",
    "create index connection_test_expiry on connection_test (expires_at)",
  ],
};
