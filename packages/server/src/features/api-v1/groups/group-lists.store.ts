/** The lists of groups and of their members: the database filters, sorts and pages. */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { GroupSource } from "../../../core/groups/group.ts";
import {
  countMembers,
  type GroupMember,
  insideGroup,
  listMembers,
  type MemberType,
} from "../../../core/groups/group-members.store.ts";
import { type GroupKey, groupColumns } from "../../../core/groups/groups.store.ts";
import { guestsAsTable } from "../../../core/users/members/guests.store.ts";
import { searchWords } from "../../../core/users/members/members.store.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { containing } from "../../../db/search-text.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";
import type { ShownGroup } from "./group-record.ts";

const text = (column: string) => ({ kind: "text", of: sql.ref(`user_group.${column}`) }) as const;
const time = (column: string) =>
  ({ kind: "time", of: sql.ref(`user_group.${column}`), isNeverNull: true }) as const;

export const groupFields: SqlFields = {
  id: text("id"),
  displayName: text("display_name"),
  description: text("description"),
  externalId: text("external_id"),
  source: text("source"),
  connectionId: text("connection_id"),
  memberCount: { kind: "number", of: groupColumns.memberCount, isNeverNull: true },
  createdAt: time("created_at"),
  updatedAt: time("updated_at"),
};

/** Of one user, directly or at any depth. */
export interface GroupsOfUser {
  readonly userId: string;
  readonly effective: boolean;
}

export async function listGroupPage(
  db: Db,
  orgId: string,
  list: ListRequest,
  ofUser?: GroupsOfUser,
): Promise<ListPage<ShownGroup & { readonly sortValue: string | number }>> {
  const { matching, within, value, id, direction, limit } = sqlList(
    db,
    list,
    groupFields,
    sql.ref("user_group.id"),
  );
  const kept = () =>
    db
      .selectFrom("user_group")
      .where("user_group.org_id", "=", orgId)
      .where(matching)
      .where(mentions(list.search ?? ""))
      .$if(ofUser !== undefined, (query) => query.where(ofUser ? has(orgId, ofUser) : sql<SqlBool>`1 = 1`));
  const ids = kept().select("user_group.id").where(within).orderBy(value, direction).orderBy(id, direction);
  // Members are counted of the page's groups alone: beside the order SQLite counts them of all.
  const rows = await db
    .selectFrom("user_group")
    .select(["org_id as orgId", "id", "display_name as displayName", "description", "version"])
    .select(["external_id as externalId", "source", "connection_id as connectionId"])
    .select(["created_at as createdAt", "updated_at as updatedAt"])
    .select(groupColumns.memberCount.$castTo<number | string>().as("memberCount"))
    .select(value.as("sortValue"))
    .where("user_group.org_id", "=", orgId)
    .where("user_group.id", "in", (eb) => eb.selectFrom(ids.limit(limit).as("page")).select("page.id"))
    .orderBy(value, direction)
    .orderBy(id, direction)
    .execute();
  const shown = rows.map((row) => ({
    ...row,
    source: row.source as GroupSource,
    memberCount: Number(row.memberCount),
  }));
  return sqlPage(list, shown, () => countRows(db, kept().select("user_group.id")));
}

/** Each word occurs in the name. */
function mentions(search: string): RawBuilder<SqlBool> {
  const words = searchWords(search).map(
    (word) => sql<SqlBool>`user_group.name_key like ${containing(word)} escape '!'`,
  );
  return words.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`(${sql.join(words, sql` and `)})`;
}

function has(orgId: string, { userId, effective }: GroupsOfUser): RawBuilder<SqlBool> {
  const direct = sql`select group_id from group_user where org_id = ${orgId} and user_id = ${userId}`;
  if (!effective) return sql<SqlBool>`user_group.id in (${direct})`;
  return sql<SqlBool>`user_group.id in (with recursive inside (id) as (${direct}
    union
    select n.group_id from inside cross join group_nested n where n.org_id = ${orgId} and n.member_id = inside.id)
    select id from inside)`;
}

export const memberFields: SqlFields = {
  type: { kind: "text", of: sql.ref("listed.type") },
  id: { kind: "text", of: sql.ref("listed.id") },
  displayName: { kind: "text", of: sql.ref("listed.displayName") },
  createdAt: { kind: "time", of: sql.ref("listed.createdAt"), isNeverNull: true },
};

/** Without a filter or an order of its own the list is read by the index: groups first, then users. */
export async function listMemberPage(
  db: Db,
  group: GroupKey,
  list: ListRequest,
  { effective, isPlain }: { readonly effective: boolean; readonly isPlain: boolean },
): Promise<ListPage<GroupMember>> {
  if (!isPlain) return listFiltered(db, group, list, effective);
  const { after, limit, wantsTotal } = list;
  const place = after && { type: String(after.value) as MemberType, id: after.id };
  return {
    rows: await listMembers(db, group, { effective, after: place, limit: limit + 1 }),
    placeOf: ({ type, id }) => ({ value: type, id }),
    ...(wantsTotal ? { total: await countMembers(db, group, effective) } : {}),
  };
}

const shownName = (account: string) =>
  sql`coalesce(nullif(trim(${sql.ref(`${account}.firstname`)} || ' ' || ${sql.ref(`${account}.surname`)}), ''),
    ${sql.ref(`${account}.email`)})`;

type Listed = GroupMember & { readonly sortValue: string | number };

async function listFiltered(db: Db, group: GroupKey, list: ListRequest, effective: boolean) {
  const { orgId } = group;
  const { matching, within, value, id, direction, limit } = sqlList(
    db,
    list,
    memberFields,
    sql.ref("listed.id"),
  );
  const guests = await guestsAsTable(db, orgId);
  const listed = sql`${insideGroup(group, effective)}, listed as (
    select cast('group' as text) as type, g.id, g.display_name as "displayName", min(n.added_at) as "createdAt"
      from inside join group_nested n on n.org_id = ${orgId} and n.group_id = inside.id
      join user_group g on g.org_id = n.org_id and g.id = n.member_id group by g.id, g.display_name
    union all
    select cast('user' as text), u.user_id, min(${shownName("own")}), min(u.added_at)
      from inside join group_user u on u.org_id = ${orgId} and u.group_id = inside.id
      join membership m on m.org_id = u.org_id and m.user_id = u.user_id and m.home_org_id = m.org_id
      join user_account own on own.org_id = m.org_id and own.id = m.user_id
      group by u.user_id
    union all
    select cast('user' as text), u.user_id, min(${shownName("guest")}), min(u.added_at)
      from inside join group_user u on u.org_id = ${orgId} and u.group_id = inside.id
      join membership m on m.org_id = u.org_id and m.user_id = u.user_id and m.home_org_id <> m.org_id
      join ${guests} as guest on guest.id = m.user_id
      group by u.user_id)`;
  const { rows } = await sql<Listed>`${listed}
    select type, id, "displayName", ${value} as "sortValue" from listed where ${matching} and ${within}
    order by ${value} ${sql.raw(direction)}, ${id} ${sql.raw(direction)} limit ${limit}`.execute(db);
  return sqlPage(list, rows, async () => {
    const counted = await sql<{ count: number | string }>`${listed}
      select count(*) as count from listed where ${matching}`.execute(db);
    return Number(counted.rows[0]?.count ?? 0);
  });
}
