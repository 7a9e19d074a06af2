/** Makes the groups of a connection the organisation's own, when the connection goes. */
import { sql } from "kysely";
import { hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { lockedInOrder } from "../../db/row-locks.ts";
import { groupNameKey } from "../groups/group.ts";
import type { ConnectionKey } from "./connection.ts";

export interface ClashingGroup {
  readonly id: string;
  readonly displayName: string;
}

/** Locks them all, in the order of their ids. @returns how many there are */
export async function lockGroupsOf(tx: Db, { orgId, id }: ConnectionKey): Promise<number> {
  const groups = tx
    .selectFrom("user_group")
    .select("id")
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: id }));
  return (await lockedInOrder(tx, groups, "id").execute()).length;
}

/** Those whose name a group of the organisation's own has. */
export async function findClashingGroups(tx: Db, { orgId, id }: ConnectionKey): Promise<ClashingGroup[]> {
  const { rows } = await sql<ClashingGroup>`
    select g.id, g.display_name as "displayName" from user_group g
    join user_group own on own.org_id = g.org_id and own.source = 'local' and own.name_key = g.name_key
      and coalesce(own.connection_id, '') = ''
    where g.org_id = ${orgId} and g.connection_id = ${id} order by g.id`.execute(tx);
  return rows;
}

/** By a group of the organisation's own, or one that will be. */
export const isNameUsed = (tx: Db, { orgId, id }: ConnectionKey, name: string): Promise<boolean> =>
  hasRow(
    tx
      .selectFrom("user_group")
      .select("id")
      .where((eb) => allOf(eb, { org_id: orgId, name_key: groupNameKey(name) }))
      .where((eb) => eb.or([eb("source", "=", "local"), eb("connection_id", "=", id)]))
      .limit(1),
  );

export async function renameGroup(
  tx: Db,
  { orgId, groupId, name }: { readonly orgId: string; readonly groupId: string; readonly name: string },
): Promise<void> {
  await tx
    .updateTable("user_group")
    .set({ display_name: name, name_key: groupNameKey(name) })
    .where((eb) => allOf(eb, { org_id: orgId, id: groupId }))
    .execute();
}

export async function makeGroupsLocal(tx: Db, { orgId, id }: ConnectionKey, now: number): Promise<void> {
  await tx
    .updateTable("user_group")
    .set((eb) => ({
      source: "local",
      connection_id: null,
      updated_at: now,
      version: eb("version", "+", 1),
    }))
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: id }))
    .execute();
}

/** Users whom it provisions. */
export async function countUsersOf(tx: Db, { orgId, id }: ConnectionKey): Promise<number> {
  const row = await tx
    .selectFrom("scim_user")
    .select((eb) => eb.fn.countAll().as("count"))
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: id }))
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}
