/** Invitations as records: whom, until when, and what became of each (connections.md §1). Those that are open are taken over. */
import type { Migration } from "./migration.ts";

export const invitations: Migration = {
  name: "0041-invitations",
  statements: [
    `create table invitation (
      org_id text not null, id text not null, user_id text not null, expires_at bigint not null,
      accepted_at bigint, withdrawn_at bigint, created_at bigint not null, updated_at bigint not null,
      primary key (org_id, id),
      foreign key (org_id, user_id) references user_account (org_id, id) on delete cascade)`,
    `create unique index invitation_open on invitation (org_id, user_id)
      where accepted_at is null and withdrawn_at is null`,
    "create index invitation_user on invitation (org_id, user_id)",
    "create index invitation_created on invitation (org_id, created_at, id)",
    `insert into invitation (org_id, id, user_id, expires_at, created_at, updated_at)
      select action.org_id, action.user_id, action.user_id, action.expires_at, action.created_at, action.created_at
      from user_action as action
      join user_account as account on account.org_id = action.org_id and account.id = action.user_id
      where action.type = 'AcceptInvitation' and action.used_at is null`,
  ],
};
