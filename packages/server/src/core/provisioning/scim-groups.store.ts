/** Reads the groups of a connection. */
import { type ExpressionBuilder, type RawBuilder, sql } from "kysely";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import type { Schema } from "../../db/schema.ts";
import { groupNameKey } from "../groups/group.ts";
import { groupColumns } from "../groups/groups.store.ts";
import { seesUser } from "./scim-members.store.ts";
import type { ConnectionOf } from "./scim-users.store.ts";

export interface ScimGroupRow {
  readonly id: string;
  readonly displayName: string;
  readonly externalId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly membersChangedAt: number | null;
  readonly version: number;
  /** Direct members. */
  readonly memberCount: number;
}

/** What a group must be for a filter; a name may still be another one. */
export interface GroupNarrowing {
  readonly ids: readonly string[];
  readonly externalIds: readonly string[];
  readonly names: readonly string[];
  /** Ids of users or groups that are direct members. */
  readonly members: readonly string[];
}

const groupsOf = (db: Db, { orgId, connectionId }: ConnectionOf) =>
  db
    .selectFrom("user_group")
    .where((eb) => allOf(eb, { "user_group.org_id": orgId, "user_group.connection_id": connectionId }));

function narrow(
  eb: ExpressionBuilder<Schema, "user_group">,
  where: ConnectionOf,
  { ids, externalIds, names, members }: GroupNarrowing,
) {
  return eb.and([
    ...ids.map((id) => eb("user_group.id", "=", id)),
    ...externalIds.map((externalId) => eb("user_group.external_id", "=", externalId)),
    ...names.map((name) => eb("user_group.name_key", "=", groupNameKey(name))),
    ...members.map((id) => hasMember(where, id)),
  ]);
}

/** A member that the connection sees. */
const hasMember = ({ orgId, connectionId }: ConnectionOf, id: string): RawBuilder<boolean> => sql<boolean>`
  user_group.id in (
    select group_id from group_user where org_id = ${orgId} and user_id = ${id}
      and ${seesUser({ orgId, connectionId }, sql`${id}`)}
    union all
    select n.group_id from group_nested n join user_group g on g.org_id = n.org_id and g.id = n.member_id
    where n.org_id = ${orgId} and n.member_id = ${id} and g.connection_id = ${connectionId})`;

const columns = [
  ...(["user_group.id", "user_group.display_name as displayName"] as const),
  ...(["user_group.external_id as externalId", "user_group.created_at as createdAt"] as const),
  ...(["user_group.updated_at as updatedAt", "user_group.members_changed_at as membersChangedAt"] as const),
  "user_group.version",
] as const;

type Read = Omit<ScimGroupRow, "memberCount"> & { readonly memberCount: number | string };
const readRow = ({ memberCount, ...row }: Read): ScimGroupRow => ({
  ...row,
  memberCount: Number(memberCount),
});

export async function findScimGroup(
  db: Db,
  where: ConnectionOf,
  id: string,
): Promise<ScimGroupRow | undefined> {
  const row = await groupsOf(db, where)
    .select(columns)
    .select(groupColumns.memberCount.as("memberCount"))
    .where("user_group.id", "=", id)
    .executeTakeFirst();
  return row && readRow(row);
}

export interface ScimGroupPage {
  readonly where: ConnectionOf;
  readonly narrowing: GroupNarrowing;
  /** The id of the last one of the page before. */
  readonly after?: string | undefined;
  readonly offset?: number;
  readonly limit: number;
}

/** In the order of their ids. */
export async function listScimGroups(
  db: Db,
  { where, narrowing, after, offset = 0, limit }: ScimGroupPage,
): Promise<ScimGroupRow[]> {
  let query = groupsOf(db, where)
    .select(columns)
    .select(groupColumns.memberCount.as("memberCount"))
    .where((eb) => narrow(eb, where, narrowing));
  if (after !== undefined) query = query.where("user_group.id", ">", after);
  if (offset > 0) query = query.offset(offset);
  return (await query.orderBy("user_group.id").limit(limit).execute()).map(readRow);
}

export async function countScimGroups(
  db: Db,
  where: ConnectionOf,
  narrowing: GroupNarrowing,
): Promise<number> {
  const row = await groupsOf(db, where)
    .select((eb) => eb.fn.countAll().as("count"))
    .where((eb) => narrow(eb, where, narrowing))
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Which of the two another group of the connection has. */
export async function findGroupClash(
  db: Db,
  where: ConnectionOf,
  { id, displayName, externalId }: { id: string | undefined; displayName: string; externalId: string | null },
): Promise<"displayName" | "externalId" | undefined> {
  const key = groupNameKey(displayName);
  let query = groupsOf(db, where)
    .select("name_key")
    .where((eb) =>
      eb.or([
        eb("name_key", "=", key),
        ...(externalId === null ? [] : [eb("user_group.external_id", "=", externalId)]),
      ]),
    );
  if (id !== undefined) query = query.where("user_group.id", "<>", id);
  const rows = await query.limit(2).execute();
  if (rows.length === 0) return undefined;
  return rows.some(({ name_key }) => name_key === key) ? "displayName" : "externalId";
}
