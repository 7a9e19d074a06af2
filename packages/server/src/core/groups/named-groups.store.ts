/** Reads and writes which local groups a user is a direct member of, by their names. */
import { newUuid } from "@signet/protocol/uuid";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { groupNameKey } from "./group.ts";
import { deleteMembers, insertMembers } from "./group-members.store.ts";
import { findLocalGroups, insertGroup } from "./groups.store.ts";

export interface Member {
  readonly orgId: string;
  readonly userId: string;
}

export interface DirectGroup {
  readonly id: string;
  readonly displayName: string;
  readonly source: string;
  readonly addedAt: number;
}

/** Of any source, by name. */
export const findDirectGroups = async (db: Db, { orgId, userId }: Member): Promise<readonly DirectGroup[]> =>
  db
    .selectFrom("group_user")
    .innerJoin("user_group", (join) =>
      join
        .onRef("user_group.org_id", "=", "group_user.org_id")
        .onRef("user_group.id", "=", "group_user.group_id"),
    )
    .select([
      "user_group.id",
      "user_group.display_name as displayName",
      "user_group.source",
      "group_user.added_at as addedAt",
    ])
    .where((eb) => allOf(eb, { "group_user.org_id": orgId, "group_user.user_id": userId }))
    .orderBy("user_group.name_key")
    .orderBy("user_group.id")
    .execute();

/**
 * Makes the user a direct member of the local groups with these names, and of no other local group; makes groups that are
 * not there yet. @returns the names of new groups, with their ids, and whether anything changed
 */
export async function setLocalGroups(
  tx: Db,
  { orgId, userId }: Member,
  { names, now }: { readonly names: readonly string[]; readonly now: number },
): Promise<{ readonly created: ReadonlyArray<{ id: string; name: string }>; readonly isChanged: boolean }> {
  const wanted = new Map(names.map((name) => [groupNameKey(name), name.trim()]));
  const all = await findDirectGroups(tx, { orgId, userId });
  const present = all.filter(({ source }) => source === "local");
  // Whoever shows the groups shows those of connections too: a name that comes back is no wish for a local one.
  const keys = new Set(all.map(({ displayName }) => groupNameKey(displayName)));
  const added = [...wanted.keys()].filter((key) => !keys.has(key));
  const removed = present.filter(({ displayName }) => !wanted.has(groupNameKey(displayName)));
  const created: Array<{ id: string; name: string }> = [];
  // Two that make a group of one name make it one after the other.
  if (added.length > 0) await lockOrganisation(tx, orgId);
  const known = new Map(await findLocalGroups(tx, orgId, added));
  for (const key of added.filter((one) => !known.has(one))) {
    const [id, name] = [newUuid(), wanted.get(key) ?? key];
    const texts = { displayName: name, description: null, externalId: null };
    const origin = { source: "local", connectionId: null } as const;
    const times = { createdAt: now, updatedAt: now, version: 1 };
    if (!(await insertGroup(tx, { orgId, id, ...texts, ...origin, ...times }))) continue;
    known.set(key, id);
    created.push({ id, name });
  }
  const member = { type: "user", id: userId } as const;
  for (const id of known.values()) await insertMembers(tx, { orgId, id }, { members: [member], now });
  for (const { id } of removed) await deleteMembers(tx, { orgId, id }, [member]);
  return { created, isChanged: known.size + removed.length > 0 };
}
