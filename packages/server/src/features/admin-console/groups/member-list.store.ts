/** Searches the direct members of a group: users, guests and groups. */
import { sql } from "kysely";
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

type Row = MemberRef & {
  readonly groupName: string | null;
  readonly nameOrder: string;
  readonly addedAt: number | string;
};

const orderColumns = { name: sql.ref("member.nameOrder"), added: sql.ref("member.addedAt") } as const;

/** The email address stands first in a member's search key: users are sorted by it. */
const members = (db: Db, { orgId, id }: GroupKey, { words, type }: MemberFilter) => {
  const groups = sql<Row>`select 'group' as "type", g.id as id, g.display_name as "groupName",
      substr(g.name_key, 1, 100) as "nameOrder", g.name_key as "text", n.added_at as "addedAt"
    from group_nested n join user_group g on g.org_id = n.org_id and g.id = n.member_id
    where n.org_id = ${orgId} and n.group_id = ${id}`;
  const users = sql<Row>`select 'user' as "type", u.user_id as id, null as "groupName",
      substr(m.search_key, 1, 100) as "nameOrder", m.search_key as "text", u.added_at as "addedAt"
    from group_user u join membership m on m.org_id = u.org_id and m.user_id = u.user_id
    where u.org_id = ${orgId} and u.group_id = ${id}`;
  const all = { user: users, group: groups } as const;
  const some = type === undefined ? sql<Row>`${groups} union all ${users}` : all[type];
  const query = db.selectFrom(sql<Row>`(${some})`.as("member"));
  const named = words.map(
    (word) => sql<boolean>`${sql.ref("member.text")} like ${containing(word)} escape '!'`,
  );
  return named.length === 0 ? query : query.where((eb) => eb.and(named));
};

export async function searchMembers(
  db: Db,
  group: GroupKey,
  { page, limit, ...filter }: MemberFilter & { page: KeysetPage & { sort: MemberSort }; limit: number },
): Promise<ListedMember[]> {
  const value = orderColumns[page.sort];
  const { within, direction } = readPage(page, { value, id: sql.ref("member.id") });
  const rows = await members(db, group, filter)
    .select(["member.type", "member.id", "member.groupName", "member.nameOrder", "member.addedAt"])
    .where(within)
    .orderBy(value, direction)
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
export const countSearchedMembers = (
  db: Db,
  group: GroupKey,
  { max, ...filter }: MemberFilter & { max: number },
): Promise<number> => countRows(db, members(db, group, filter).select("member.id").limit(max));
