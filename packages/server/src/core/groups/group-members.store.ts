/** Stores who is in a group. */
import { type RawBuilder, sql } from "kysely";
import { countAffected } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { findMemberNames, type MemberName } from "../users/members/member-names.store.ts";
import type { GroupKey } from "./groups.store.ts";

export const memberTypes = ["user", "group"] as const;
export type MemberType = (typeof memberTypes)[number];

export interface MemberRef {
  readonly type: MemberType;
  readonly id: string;
}

export interface GroupMember extends MemberRef {
  readonly displayName: string;
}

/** Databases limit the parameters of a statement. */
const MAX_ROWS = 1_000;

const idsOf = (members: readonly MemberRef[], type: MemberType): string[] => [
  ...new Set(members.filter((one) => one.type === type).map(({ id }) => id)),
];

/** @returns those of the ids that the organisation does not have, of each kind */
export async function findUnknownMembers(
  db: Db,
  orgId: string,
  members: readonly MemberRef[],
): Promise<MemberRef[]> {
  const [users, groups] = [idsOf(members, "user"), idsOf(members, "group")];
  const known = new Set<string>();
  for (let at = 0; at < users.length; at += MAX_ROWS) {
    const some = users.slice(at, at + MAX_ROWS);
    const found = db.selectFrom("membership").select("user_id").where("org_id", "=", orgId);
    for (const row of await found.where("user_id", "in", some).execute()) known.add(`user ${row.user_id}`);
  }
  for (let at = 0; at < groups.length; at += MAX_ROWS) {
    const some = groups.slice(at, at + MAX_ROWS);
    const found = db.selectFrom("user_group").select("id").where("org_id", "=", orgId);
    for (const row of await found.where("id", "in", some).execute()) known.add(`group ${row.id}`);
  }
  return members.filter(({ type, id }) => !known.has(`${type} ${id}`));
}

/** @returns how many were not in it yet, or by a connection's claims alone */
export async function insertMembers(
  tx: Db,
  { orgId, id: group_id }: GroupKey,
  { members, now }: { readonly members: readonly MemberRef[]; readonly now: number },
): Promise<number> {
  let inserted = 0;
  const [users, groups] = [idsOf(members, "user").sort(), idsOf(members, "group").sort()];
  if (users.length > 0) {
    const rows = users.map((user_id) => ({ org_id: orgId, group_id, user_id, added_at: now }));
    const added = tx.insertInto("group_user").values(rows);
    inserted += (
      await added
        .onConflict((on) => on.doNothing())
        .returning("user_id")
        .execute()
    ).length;
    inserted += await keepByHand(tx, { orgId, id: group_id }, users);
  }
  if (groups.length > 0) {
    const rows = groups.map((member_id) => ({ org_id: orgId, group_id, member_id, added_at: now }));
    const added = tx.insertInto("group_nested").values(rows);
    inserted += (
      await added
        .onConflict((on) => on.doNothing())
        .returning("member_id")
        .execute()
    ).length;
  }
  return inserted;
}

/** They stay, whatever claims of connections say from now on. */
const keepByHand = (tx: Db, { orgId, id }: GroupKey, users: readonly string[]): Promise<number> =>
  countAffected(
    tx
      .deleteFrom("group_claim")
      .where((eb) => allOf(eb, { org_id: orgId, group_id: id }))
      .where("user_id", "in", users),
  );

/** @returns how many were in it */
export async function deleteMembers(
  tx: Db,
  { orgId, id: group_id }: GroupKey,
  members: readonly MemberRef[],
): Promise<number> {
  let deleted = 0;
  const [users, groups] = [idsOf(members, "user"), idsOf(members, "group")];
  const of = { org_id: orgId, group_id };
  if (users.length > 0) {
    const query = tx.deleteFrom("group_user").where((eb) => allOf(eb, of));
    deleted += await countAffected(query.where("user_id", "in", users));
  }
  if (groups.length > 0) {
    const query = tx.deleteFrom("group_nested").where((eb) => allOf(eb, of));
    deleted += await countAffected(query.where("member_id", "in", groups));
  }
  return deleted;
}

/** Tells that the members are others than before: each time with a later moment, even within a millisecond. */
export async function touchMembers(tx: Db, { orgId, id }: GroupKey, now: number): Promise<void> {
  await tx
    .updateTable("user_group")
    .set((eb) => ({
      members_changed_at: eb
        .case()
        .when("members_changed_at", ">=", now)
        .then(eb("members_changed_at", "+", 1))
        .else(eb.val(now))
        .end(),
    }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .execute();
}

export interface MemberPage {
  /** Of every depth. */
  readonly effective: boolean;
  /** A place in the list: groups first, then users, each in the order of the ids. */
  readonly after?: MemberRef | undefined;
  readonly limit: number;
}

/**
 * A group and everything inside it, however deep; ends in any state of the rows. `cross join`: SQLite begins with what it names
 * first, and not with all that is nested in the organisation.
 */
export const insideGroup = ({ orgId, id }: GroupKey, isEffective: boolean): RawBuilder<unknown> =>
  isEffective
    ? sql`with recursive inside (id) as (
        select cast(${id} as text)
        union
        select n.member_id from inside cross join group_nested n where n.org_id = ${orgId} and n.group_id = inside.id)`
    : sql`with inside (id) as (select cast(${id} as text))`;

export async function listMembers(
  db: Db,
  group: GroupKey,
  { effective, after, limit }: MemberPage,
): Promise<GroupMember[]> {
  const { orgId } = group;
  const listed: GroupMember[] = [];
  if (after?.type !== "user") {
    const { rows } = await sql<{ id: string; displayName: string }>`${insideGroup(group, effective)}
      select g.id, g.display_name as "displayName" from user_group g
      where g.org_id = ${orgId} and g.id in (
        select distinct n.member_id from inside
        join group_nested n on n.org_id = ${orgId} and n.group_id = inside.id
        where n.member_id > ${after?.id ?? ""} order by n.member_id limit ${limit})
      order by g.id`.execute(db);
    listed.push(...rows.map((row) => ({ type: "group" as const, ...row })));
  }
  if (listed.length >= limit) return listed;
  const { rows } = await usersIn(group, effective, {
    after: after?.type === "user" ? after.id : "",
    limit: limit - listed.length,
  }).execute(db);
  const ids = rows.map(({ id }) => id);
  const names = await findMemberNames(db, orgId, ids);
  return [...listed, ...ids.flatMap((id) => toUserMember(names.get(id)))];
}

function usersIn(
  group: GroupKey,
  effective: boolean,
  { after, limit }: { readonly after: string; readonly limit: number },
) {
  const { orgId, id } = group;
  if (!effective)
    return sql<{ id: string }>`select user_id as id from group_user
      where org_id = ${orgId} and group_id = ${id} and user_id > ${after} order by user_id limit ${limit}`;
  // In an order that no index has: else the users of all groups of the organisation are read in it.
  return sql<{ id: string }>`${insideGroup(group, effective)}
    select distinct (u.user_id || '') as id from inside cross join group_user u
    where u.org_id = ${orgId} and u.group_id = inside.id and u.user_id > ${after}
    order by 1 limit ${limit}`;
}

const toUserMember = (user: MemberName | undefined): GroupMember[] =>
  user
    ? [
        {
          type: "user",
          id: user.id,
          displayName: [user.firstname, user.surname].filter((part) => part !== "").join(" ") || user.email,
        },
      ]
    : [];

/** How many members the list has. */
export async function countMembers(db: Db, group: GroupKey, effective: boolean): Promise<number> {
  const { orgId } = group;
  const { rows } = await sql<{ count: number | string }>`${insideGroup(group, effective)}
    select (select count(distinct u.user_id) from inside
        join group_user u on u.org_id = ${orgId} and u.group_id = inside.id)
      + (select count(distinct n.member_id) from inside
        join group_nested n on n.org_id = ${orgId} and n.group_id = inside.id) as count`.execute(db);
  return Number(rows[0]?.count ?? 0);
}
