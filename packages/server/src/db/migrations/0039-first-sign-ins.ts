/** Email codes, and first sign-ins at an identity provider that wait for the person's proof (connections.md §4, §6). */
import type { Migration } from "./migration.ts";

export const firstSignIns: Migration = {
  name: "0039-first-sign-ins",
  statements: [
    `create table email_code (
      org_id text not null references organisation (id) on delete cascade,
      holder_hash text not null, email text not null, code_mac text not null, tries integer not null,
      expires_at bigint not null,
      primary key (org_id, holder_hash))`,
    "create index email_code_expiry on email_code (expires_at)",

    `create table pending_identity (
      org_id text not null, holder_hash text not null, connection_id text not null, flow text not null,
      identity text not null, email text, asked_at bigint, expires_at bigint not null,
      primary key (org_id, holder_hash),
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade)`,
    "create index pending_identity_expiry on pending_identity (expires_at)",
    "create index pending_identity_connection on pending_identity (org_id, connection_id)",
  ],
};
