/** Stores groups. */
import { type Insertable, type Selectable, sql } from "kysely";
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import { isUniqueViolation } from "../../db/database-errors.ts";
import { countRows, inListOrder, type KeysetPage, readPage } from "../../db/keyset.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { UserGroupTable } from "../../db/tables/groups.ts";
import { type Group, type GroupSource, groupNameKey } from "./group.ts";

export interface GroupKey {
  readonly orgId: string;
  readonly id: string;
}

export interface CountedGroup extends Group {
  /** Direct members: users, guests and groups. */
  readonly memberCount: number;
}

const toGroupRow = (group: Group): Insertable<UserGroupTable> => ({
  ...toRow(group),
  name_key: groupNameKey(group.displayName),
});

const fromRow = ({ name_key: _, members_changed_at: __, ...row }: Selectable<UserGroupTable>): Group => ({
  ...toRecord(row),
  source: row.source as GroupSource,
});

/** @returns false when another group of the source has the name */
export const insertGroup = (db: Db, group: Group): Promise<boolean> =>
  hasRow(
    db
      .insertInto("user_group")
      .values(toGroupRow(group))
      .onConflict((conflict) => conflict.doNothing())
      .returning("id"),
  );

/** Locks the group until the end of the transaction: what changes it, its name or its members waits. */
export async function lockGroup(tx: Db, { orgId, id }: GroupKey): Promise<Group | undefined> {
  const row = await tx
    .updateTable("user_group")
    .set((eb) => ({ version: eb.ref("version") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

export const isNameTaken = (
  db: Db,
  { orgId, id, source, connectionId, displayName }: Group,
): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("user_group")
      .select("id")
      .where((eb) => allOf(eb, { org_id: orgId, source, name_key: groupNameKey(displayName) }))
      .where(sql<string>`coalesce(connection_id, '')`, "=", connectionId ?? "")
      .where("id", "<>", id),
  );

/**
 * The caller has locked the group. @returns false when another one took its name between a look and this: roll back, as the
 * transaction can do nothing else any more
 */
export async function replaceGroup(tx: Db, group: Group): Promise<boolean> {
  const { org_id, id, created_at: _, ...changed } = toGroupRow(group);
  const replacing = tx
    .updateTable("user_group")
    .set(changed)
    .where((eb) => allOf(eb, { org_id, id }))
    .execute();
  return replacing.then(
    () => true,
    (error: unknown) => {
      if (isUniqueViolation(error)) return false;
      throw error;
    },
  );
}

export const deleteGroupRow = (tx: Db, { orgId, id }: GroupKey): Promise<boolean> =>
  affectsAny(tx.deleteFrom("user_group").where((eb) => allOf(eb, { org_id: orgId, id })));

/** Of the row of `user_group` that a statement is at. */
export const groupColumns = {
  memberCount: sql<number | string>`(
    (select count(*) from group_user where group_user.org_id = user_group.org_id
      and group_user.group_id = user_group.id)
    + (select count(*) from group_nested where group_nested.org_id = user_group.org_id
      and group_nested.group_id = user_group.id))`,
};

export async function findGroup(db: Db, { orgId, id }: GroupKey): Promise<CountedGroup | undefined> {
  const row = await db
    .selectFrom("user_group")
    .selectAll()
    .select(groupColumns.memberCount.as("memberCount"))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && withCount(row);
}

const withCount = ({
  memberCount: count,
  ...row
}: Selectable<UserGroupTable> & { readonly memberCount: number | string }): CountedGroup => ({
  ...fromRow(row),
  memberCount: Number(count),
});

export const groupSorts = { createdAt: "created_at", displayName: "name_key" } as const;

export interface GroupFilter {
  /** Each must occur in the name; in lower case. */
  readonly words?: readonly string[];
  readonly source?: GroupSource;
  /** Those that this user is no direct member of. */
  readonly without?: string;
}

export interface GroupPage extends KeysetPage, GroupFilter {
  readonly sort: keyof typeof groupSorts;
  readonly limit: number;
}

const matching = (db: Db, orgId: string, { words = [], source, without }: GroupFilter) => {
  const query = db.selectFrom("user_group").where("org_id", "=", orgId);
  const named = words.map((word) => sql<boolean>`name_key like ${`%${escaped(word)}%`} escape '!'`);
  return query
    .$if(source !== undefined, (some) => some.where("source", "=", source ?? ""))
    .$if(without !== undefined, (some) =>
      some.where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("group_user")
              .select("group_user.user_id")
              .where("group_user.org_id", "=", orgId)
              .whereRef("group_user.group_id", "=", "user_group.id")
              .where("group_user.user_id", "=", without ?? ""),
          ),
        ),
      ),
    )
    .$if(named.length > 0, (some) => some.where(sql<boolean>`(${sql.join(named, sql` and `)})`));
};

export async function listGroups(db: Db, orgId: string, page: GroupPage): Promise<CountedGroup[]> {
  const column = sql.ref(groupSorts[page.sort]);
  const { within, direction } = readPage(page, { value: column, id: sql.ref("id") });
  const ids = matching(db, orgId, page)
    .select("id")
    .where(within)
    .orderBy(column, direction)
    .orderBy("id", direction)
    .limit(page.limit);
  // Members are counted of the page's groups alone: beside the order SQLite counts them of all.
  const rows = await db
    .selectFrom("user_group")
    .selectAll()
    .select(groupColumns.memberCount.as("memberCount"))
    .where("org_id", "=", orgId)
    .where("id", "in", (eb) => eb.selectFrom(ids.as("page")).select("page.id"))
    .orderBy(column, direction)
    .orderBy("id", direction)
    .execute();
  return inListOrder(page, rows).map(withCount);
}

/** Counts no further than `max`. */
export const countGroups = (
  db: Db,
  orgId: string,
  { max, ...filter }: GroupFilter & { readonly max: number },
): Promise<number> => countRows(db, matching(db, orgId, filter).select("id").limit(max));

const escaped = (word: string): string => word.replaceAll(/[!%_]/g, "!$&");

/** The ids of the local groups with these names, by `groupNameKey`. */
export async function findLocalGroups(
  db: Db,
  orgId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (keys.length === 0) return new Map();
  const rows = await db
    .selectFrom("user_group")
    .select(["name_key", "id"])
    .where((eb) => allOf(eb, { org_id: orgId, source: "local" }))
    .where("name_key", "in", keys)
    .execute();
  return new Map(rows.map(({ name_key, id }) => [name_key, id]));
}
