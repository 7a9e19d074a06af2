/**
 * Groups, roles and who has them. The names of groups that memberships have had as text become local groups; the column stays
 * as it is for nodes of the version before, and nothing reads it any more.
 */
import { newUuid } from "@signet/protocol/uuid";
import { sql } from "kysely";
import type { Db } from "../open.ts";
import type { Migration } from "./migration.ts";

const PAGE = 1_000;

export const groupsRoles: Migration = {
  name: "0032-groups-roles",
  statements: [
    `create table user_group (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, display_name text not null, name_key text not null, description text, external_id text,
      source text not null, connection_id text,
      created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id))`,
    "create unique index user_group_name on user_group (org_id, source, coalesce(connection_id, ''), name_key)",

    `create table group_user (
      org_id text not null, group_id text not null, user_id text not null, added_at bigint not null,
      primary key (org_id, group_id, user_id),
      foreign key (org_id, group_id) references user_group (org_id, id) on delete cascade,
      foreign key (org_id, user_id) references membership (org_id, user_id) on delete cascade)`,
    "create index group_user_user on group_user (org_id, user_id, group_id)",

    // `group_id` is the outer one.
    `create table group_nested (
      org_id text not null, group_id text not null, member_id text not null, added_at bigint not null,
      primary key (org_id, group_id, member_id),
      foreign key (org_id, group_id) references user_group (org_id, id) on delete cascade,
      foreign key (org_id, member_id) references user_group (org_id, id) on delete cascade)`,
    "create index group_nested_member on group_nested (org_id, member_id, group_id)",

    `create table role (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, application_id text, key text not null, name text not null, description text,
      permissions text not null, built_in smallint not null,
      created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create unique index role_key on role (org_id, coalesce(application_id, ''), key)",
    "create index role_application on role (org_id, application_id)",

    // One of the four subjects, each by its own reference: whoever goes loses what was assigned.
    `create table role_assignment (
      org_id text not null, id text not null, role_id text not null,
      user_id text, group_id text, client_id text, system_account_id text,
      created_by text not null, created_at bigint not null,
      primary key (org_id, id),
      foreign key (org_id, role_id) references role (org_id, id) on delete cascade,
      foreign key (org_id, user_id) references membership (org_id, user_id) on delete cascade,
      foreign key (org_id, group_id) references user_group (org_id, id) on delete cascade,
      foreign key (org_id, client_id) references application (org_id, id) on delete cascade,
      foreign key (org_id, system_account_id) references system_account (org_id, id) on delete cascade)`,
    `create unique index role_assignment_once
      on role_assignment (org_id, role_id, coalesce(user_id, group_id, client_id, system_account_id))`,
    "create index role_assignment_user on role_assignment (org_id, user_id) where user_id is not null",
    "create index role_assignment_group on role_assignment (org_id, group_id) where group_id is not null",
    "create index role_assignment_client on role_assignment (org_id, client_id) where client_id is not null",
    `create index role_assignment_account on role_assignment (org_id, system_account_id)
      where system_account_id is not null`,

    `create table application_group (
      org_id text not null, application_id text not null, group_id text not null,
      assigned_by text not null, assigned_at bigint not null,
      primary key (org_id, application_id, group_id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade,
      foreign key (org_id, group_id) references user_group (org_id, id) on delete cascade)`,
    "create index application_group_group on application_group (org_id, group_id)",

    ...["Administrator", "Standard"].map(
      // The organisation's id, and a last part of the role's own: no other organisation has it.
      (
        key,
        at,
      ) => `insert into role (org_id, id, application_id, key, name, description, permissions, built_in,
          created_at, updated_at, version)
        select id, substr(id, 1, 24) || '00000000000${at + 1}', null, '${key}', '${key}', null, '[]', 1,
          created_at, created_at, 1
        from organisation`,
    ),
  ],
  fill: async (tx) => {
    for (let after = { orgId: "", userId: "" }; ; ) {
      const { rows } = await sql<NamedGroups>`
        select org_id as "orgId", user_id as "userId", "groups" as names from membership
        where "groups" is not null and "groups" <> '[]' and (org_id, user_id) > (${after.orgId}, ${after.userId})
        order by org_id, user_id limit ${PAGE}`.execute(tx);
      for (const row of rows) await joinNamed(tx, row);
      const last = rows.at(-1);
      if (!last || rows.length < PAGE) return;
      after = last;
    }
  },
};

interface NamedGroups {
  readonly orgId: string;
  readonly userId: string;
  /** JSON array. */
  readonly names: string;
}

async function joinNamed(tx: Db, { orgId, userId, names }: NamedGroups): Promise<void> {
  const now = Date.now();
  for (const name of new Set((JSON.parse(names) as string[]).map((one) => one.trim()))) {
    if (name === "") continue;
    const key = name.normalize("NFKC").toLowerCase().slice(0, 400);
    await sql`insert into user_group (org_id, id, display_name, name_key, source, created_at, updated_at, version)
      values (${orgId}, ${newUuid()}, ${name}, ${key}, 'local', ${now}, ${now}, 1)
      on conflict do nothing`.execute(tx);
    await sql`insert into group_user (org_id, group_id, user_id, added_at)
      select org_id, id, cast(${userId} as text), cast(${now} as bigint) from user_group
      where org_id = ${orgId} and source = 'local' and name_key = ${key}
      on conflict do nothing`.execute(tx);
  }
}
