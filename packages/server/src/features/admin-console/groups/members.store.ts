/** One who is, or may have been, a member of a group: by its id alone. */

import { isUuid } from "@signet/protocol/hash";
import type { MemberRef } from "../../../core/groups/group-members.store.ts";
import { findGroup, type GroupKey } from "../../../core/groups/groups.store.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { hasRow } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";

export interface ListedMember extends MemberRef {
  readonly name: string;
  readonly isMember: boolean;
}

export async function findListedMember(
  db: Db,
  { orgId, id: group_id }: GroupKey,
  id: string,
): Promise<ListedMember | undefined> {
  const of = { org_id: orgId, group_id };
  if (!isUuid(id)) return undefined;
  const user = await findUser(db, orgId, id);
  if (user) {
    const query = db.selectFrom("group_user").select("user_id");
    const isMember = await hasRow(query.where((eb) => allOf(eb, { ...of, user_id: id })));
    return { type: "user", id, name: user.email, isMember };
  }
  const group = await findGroup(db, { orgId, id });
  if (!group) return undefined;
  const query = db.selectFrom("group_nested").select("member_id");
  const isMember = await hasRow(query.where((eb) => allOf(eb, { ...of, member_id: id })));
  return { type: "group", id, name: group.displayName, isMember };
}
