/** Memberships of groups that come from a provider's claims (connections.md §4, `mapping.groups`). */
import type { Migration } from "./migration.ts";

export const claimedGroups: Migration = {
  name: "0042-claimed-groups",
  statements: [
    `create table group_claim (
      org_id text not null, group_id text not null, user_id text not null, connection_id text not null,
      primary key (org_id, group_id, user_id, connection_id),
      foreign key (org_id, group_id, user_id)
        references group_user (org_id, group_id, user_id) on delete cascade,
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade)`,
    "create index group_claim_user on group_claim (org_id, user_id, connection_id)",
    "create index group_claim_connection on group_claim (org_id, connection_id, group_id)",
  ],
};
