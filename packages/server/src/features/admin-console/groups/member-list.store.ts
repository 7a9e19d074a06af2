/** Searches the direct members of a group, however many they are: users, guests and groups. */
import { type RawBuilder, sql } from "kysely";
import type { MemberRef } from "../../../core/groups/group-members.store.ts";
import type { GroupKey } from "../../../core/groups/groups.store.ts";
import { findMemberNames } from "../../../core/users/members/member-names.store.ts";
import { countRows, inListOrder, type KeysetPage, readPage } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { containing } from "../../../db/search-text.ts";

export type MemberSort = "name" | "added";

export interface ListedMember extends MemberRef {
  /** Of a user the name, or the email address. */
  readonly name: string;
  readonly email: string | undefined;
  readonly nameOrder: string;
  readonly addedAt: number;
}

export interface MemberFilter {
  readonly words: readonly string[];
  readonly type?: MemberRef["type"] | undefined;
}

type Page = KeysetPage & { readonly sort: MemberSort };

type Row = MemberRef & {
  readonly groupName: string | null;
  readonly nameOrder: string;
  readonly addedAt: number | string;
};

/** In a group of more members, those of a page are found along the index that orders the organisation's members. */
const LARGE = 2_000;

const groupNameOrder = sql`substr(g.name_key, 1, 100)`;
// The email address stands first. As in the index.
const userNameOrder = sql`substr(m.search_key, 1, 100)`;

const named = (text: RawBuilder<unknown>, words: readonly string[]): RawBuilder<unknown> =>
  words.length === 0
    ? sql`1 = 1`
    : sql.join(
        words.map((word) => sql`${text} like ${containing(word)} escape '!'`),
        sql` and `,
      );

/** What both kinds of members are read with: their places in the order of the list. */
interface Reading {
  readonly group: GroupKey;
  readonly words: readonly string[];
  readonly page?: { readonly page: Page; readonly limit: number };
}

function within(
  { page }: Reading,
  columns: {
    readonly name: RawBuilder<unknown>;
    readonly added: RawBuilder<unknown>;
    readonly id: RawBuilder<unknown>;
  },
): RawBuilder<unknown> {
  if (!page) return sql`1 = 1`;
  return readPage(page.page, { value: columns[page.page.sort], id: columns.id }).within;
}

function ending(
  { page }: Reading,
  columns: {
    readonly name: RawBuilder<unknown>;
    readonly added: RawBuilder<unknown>;
    readonly id: RawBuilder<unknown>;
  },
): RawBuilder<unknown> {
  if (!page) return sql``;
  const value = columns[page.page.sort];
  const direction = sql.raw(readPage(page.page, { value, id: columns.id }).direction);
  return sql`order by ${value} ${direction}, ${columns.id} ${direction} limit ${page.limit}`;
}

function groupsIn(reading: Reading): RawBuilder<Row> {
  const { orgId, id } = reading.group;
  const columns = { name: groupNameOrder, added: sql.ref("n.added_at"), id: sql.ref("g.id") };
  return sql<Row>`select 'group' as "type", g.id as id, g.display_name as "groupName",
      ${groupNameOrder} as "nameOrder", n.added_at as "addedAt"
    from group_nested n join user_group g on g.org_id = n.org_id and g.id = n.member_id
    where n.org_id = ${orgId} and n.group_id = ${id} and ${named(sql.ref("g.name_key"), reading.words)}
      and ${within(reading, columns)} ${ending(reading, columns)}`;
}

/** `cross join`: SQLite begins with what stands first, which holds the order of the page or has the fewest rows. */
function usersIn(reading: Reading, isLarge: boolean): RawBuilder<Row> {
  const { orgId, id } = reading.group;
  const isByName = reading.page?.page.sort === "name";
  const tables =
    isLarge && isByName
      ? sql`membership m cross join group_user u`
      : sql`group_user u cross join membership m`;
  const columns = { name: userNameOrder, added: sql.ref("u.added_at"), id: sql.ref("u.user_id") };
  return sql<Row>`select 'user' as "type", u.user_id as id, null as "groupName",
      ${userNameOrder} as "nameOrder", u.added_at as "addedAt"
    from ${tables}
    where u.org_id = ${orgId} and u.group_id = ${id} and m.org_id = ${orgId} and m.user_id = u.user_id
      and ${named(sql.ref("m.search_key"), reading.words)} and ${within(reading, columns)} ${ending(reading, columns)}`;
}

/** Every user of a group is a member of the organisation: without words they are counted, and sorted by time, alone. */
function usersAlone(reading: Reading): RawBuilder<Row> {
  const { orgId, id } = reading.group;
  const columns = { name: sql``, added: sql.ref("u.added_at"), id: sql.ref("u.user_id") };
  return sql<Row>`select 'user' as "type", u.user_id as id, null as "groupName",
      (select ${userNameOrder} from membership m where m.org_id = ${orgId} and m.user_id = u.user_id) as "nameOrder",
      u.added_at as "addedAt"
    from group_user u where u.org_id = ${orgId} and u.group_id = ${id} and ${within(reading, columns)} ${ending(reading, columns)}`;
}

const isLargeGroup = async (db: Db, { orgId, id }: GroupKey): Promise<boolean> => {
  const some = db.selectFrom("group_user").select("user_id").where("org_id", "=", orgId);
  return (await countRows(db, some.where("group_id", "=", id).limit(LARGE + 1))) > LARGE;
};

async function membersIn(db: Db, reading: Reading, { type }: MemberFilter): Promise<RawBuilder<Row>> {
  if (type === "group") return groupsIn(reading);
  const { page, words, group } = reading;
  const isAlone = words.length === 0 && page?.page.sort !== "name";
  const users = isAlone ? usersAlone(reading) : usersIn(reading, await isLargeGroup(db, group));
  if (type === "user") return users;
  return sql<Row>`select * from (${groupsIn(reading)}) one union all select * from (${users}) other`;
}

export async function searchMembers(
  db: Db,
  group: GroupKey,
  { page, limit, ...filter }: MemberFilter & { page: Page; limit: number },
): Promise<ListedMember[]> {
  const all = await membersIn(db, { group, words: filter.words, page: { page, limit } }, filter);
  const order = sql.ref(page.sort === "name" ? "member.nameOrder" : "member.addedAt");
  const { direction } = readPage(page, { value: order, id: sql.ref("member.id") });
  const rows = await db
    .selectFrom(sql<Row>`(${all})`.as("member"))
    .selectAll()
    .orderBy(order, direction)
    .orderBy("member.id", direction)
    .limit(limit)
    .execute();
  const users = rows.filter(({ type }) => type === "user").map(({ id }) => id);
  const names = await findMemberNames(db, group.orgId, users);
  return inListOrder(page, rows).map(({ type, id, groupName, nameOrder, addedAt }) => {
    const user = names.get(id);
    const name = user ? `${user.firstname} ${user.surname}`.trim() || user.email : (groupName ?? id);
    return { type, id, name, email: user?.email, nameOrder, addedAt: Number(addedAt) };
  });
}

/** @param max counts no further */
export async function countSearchedMembers(
  db: Db,
  group: GroupKey,
  { max, ...filter }: MemberFilter & { max: number },
): Promise<number> {
  const all = await membersIn(db, { group, words: filter.words }, filter);
  return countRows(db, db.selectFrom(sql<Row>`(${all})`.as("member")).select("member.id").limit(max));
}
