/** Reads who is in the groups of a connection, as it sees them, and which groups its users are in. */
import { type RawBuilder, sql } from "kysely";
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import type { MemberRef } from "../groups/group-members.store.ts";
import type { ConnectionOf } from "./scim-users.store.ts";

export interface ShownMember extends MemberRef {
  readonly groupId: string;
}

/** Whether a user's home is here, and no other connection provisions the user. */
export const seesUser = (
  { orgId, connectionId }: ConnectionOf,
  id: RawBuilder<unknown>,
): RawBuilder<boolean> =>
  sql<boolean>`(
    exists (select 1 from user_account where user_account.org_id = ${orgId} and user_account.id = ${id})
    and not exists (select 1 from scim_user where scim_user.org_id = ${orgId} and scim_user.user_id = ${id}
      and (scim_user.connection_id <> ${connectionId} or scim_user.deleted_at is not null)))`;

const listOf = (ids: readonly string[]) => sql.join(ids.map((id) => sql`${id}`));

/** Of each group the users, then the groups, in the order of their ids. */
export async function listShownMembers(
  db: Db,
  where: ConnectionOf,
  groupIds: readonly string[],
): Promise<ShownMember[]> {
  if (groupIds.length === 0) return [];
  const { orgId, connectionId } = where;
  const { rows: users } = await sql<ShownMember>`
    select u.group_id as "groupId", a.id, 'user' as type from group_user u
    join user_account a on a.org_id = u.org_id and a.id = u.user_id
    left join scim_user s on s.org_id = u.org_id and s.user_id = u.user_id
    where u.org_id = ${orgId} and u.group_id in (${listOf(groupIds)})
      and (s.user_id is null or (s.connection_id = ${connectionId} and s.deleted_at is null))
    order by u.group_id, u.user_id`.execute(db);
  const { rows: groups } = await sql<ShownMember>`
    select n.group_id as "groupId", g.id, 'group' as type from group_nested n
    join user_group g on g.org_id = n.org_id and g.id = n.member_id and g.connection_id = ${connectionId}
    where n.org_id = ${orgId} and n.group_id in (${listOf(groupIds)})
    order by n.group_id, n.member_id`.execute(db);
  return [...users, ...groups];
}

/** Databases limit the parameters of a statement. */
const MAX_PARAMETERS = 1_000;

/** What the ids are of that the connection sees. */
export async function findMemberTypes(
  db: Db,
  where: ConnectionOf,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MemberRef["type"]>> {
  const { orgId, connectionId } = where;
  const types = new Map<string, MemberRef["type"]>();
  for (let at = 0; at < ids.length; at += MAX_PARAMETERS) {
    const some = listOf(ids.slice(at, at + MAX_PARAMETERS));
    const { rows } = await sql<MemberRef>`
      select a.id, 'user' as type from user_account a
      left join scim_user s on s.org_id = a.org_id and s.user_id = a.id
      where a.org_id = ${orgId} and a.id in (${some})
        and (s.user_id is null or (s.connection_id = ${connectionId} and s.deleted_at is null))
      union all
      select id, 'group' from user_group
      where org_id = ${orgId} and connection_id = ${connectionId} and id in (${some})`.execute(db);
    for (const { id, type } of rows) types.set(id, type);
  }
  return types;
}

/** All of them, whether the connection sees them or not. @param among only these */
export async function findDirectMembers(
  db: Db,
  { orgId, groupId }: { readonly orgId: string; readonly groupId: string },
  among: readonly string[] | undefined,
): Promise<MemberRef[]> {
  const found: MemberRef[] = [];
  const pages = among === undefined ? [undefined] : pagesOf(among);
  for (const some of pages) {
    const isOne = (column: string) =>
      some === undefined ? sql`true` : sql`${sql.ref(column)} in (${listOf(some)})`;
    const { rows } = await sql<MemberRef>`
      select user_id as id, 'user' as type from group_user
      where org_id = ${orgId} and group_id = ${groupId} and ${isOne("user_id")}
      union all
      select member_id, 'group' from group_nested
      where org_id = ${orgId} and group_id = ${groupId} and ${isOne("member_id")}`.execute(db);
    found.push(...rows);
  }
  return found;
}

function* pagesOf(ids: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += MAX_PARAMETERS) yield ids.slice(at, at + MAX_PARAMETERS);
}

export interface GroupOfUser {
  readonly userId: string;
  readonly id: string;
  readonly displayName: string;
  readonly isDirect: boolean;
}

/** The connection's groups that users are in, directly or by other groups; by user, then by group. */
export async function listGroupsOfUsers(
  db: Db,
  { orgId, connectionId }: ConnectionOf,
  { userIds, limit }: { readonly userIds: readonly string[]; readonly limit: number },
): Promise<GroupOfUser[]> {
  if (userIds.length === 0) return [];
  const { rows } = await sql<Omit<GroupOfUser, "isDirect"> & { readonly direct: number | string }>`
    with recursive inside (user_id, id) as (
      select user_id, group_id from group_user where org_id = ${orgId} and user_id in (${listOf(userIds)})
      union
      select inside.user_id, n.group_id from inside
      join group_nested n on n.org_id = ${orgId} and n.member_id = inside.id)
    select inside.user_id as "userId", g.id, g.display_name as "displayName",
      (select count(*) from group_user u where u.org_id = ${orgId} and u.group_id = g.id
        and u.user_id = inside.user_id) as direct
    from inside join user_group g on g.org_id = ${orgId} and g.id = inside.id
      and g.connection_id = ${connectionId}
    order by inside.user_id, g.id limit ${limit}`.execute(db);
  return rows.map(({ direct, ...row }) => ({ ...row, isDirect: Number(direct) > 0 }));
}

/** Out of the connection's groups. @returns whether the user was in one */
export const leaveGroups = (
  tx: Db,
  { orgId, connectionId }: ConnectionOf,
  userId: string,
): Promise<boolean> =>
  affectsAny(
    tx
      .deleteFrom("group_user")
      .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
      .where("group_id", "in", (inner) =>
        inner
          .selectFrom("user_group")
          .select("id")
          .where((eb) => allOf(eb, { org_id: orgId, connection_id: connectionId })),
      ),
  );
