/** What an identity provider has said of each sign-in by it: whose session, tokens and keys came from there (connections.md §2, §4). */
import type { Migration } from "./migration.ts";

export const upstreamSignIns: Migration = {
  name: "0044-upstream-sign-ins",
  statements: [
    `create table upstream_sign_in (
      org_id text not null, user_id text not null, signed_in_at bigint not null, connection_id text not null,
      issuer text not null, subject text not null, sid text, acr text, amr text, auth_time bigint, id_token text,
      expires_at bigint not null,
      primary key (org_id, user_id, signed_in_at),
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade,
      foreign key (org_id, user_id) references membership (org_id, user_id) on delete cascade)`,
    "create index upstream_sign_in_connection on upstream_sign_in (org_id, connection_id, user_id)",
    `create index upstream_sign_in_sid on upstream_sign_in (org_id, connection_id, sid)
      where sid is not null`,
    "create index upstream_sign_in_expiry on upstream_sign_in (expires_at)",
  ],
};
