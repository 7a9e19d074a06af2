/**
 * Memberships of groups that come from a provider's claims: they follow each sign-in, and end with the connection, the link, or the
 * entry of the mapping. Who was made a member by hand stays one.
 */
import type { Db } from "../../../db/open.ts";
import { type Act, auditFields } from "../../audit/audit.store.ts";
import { touchMembers } from "../../groups/group-members.store.ts";
import { lockGroup } from "../../groups/groups.store.ts";
import { type RecordDeps, recordChange } from "../../record-changes.ts";
import type { ConnectionKey } from "../connection.ts";
import { findConnection, holdConnection } from "../connections.store.ts";
import {
  type Claimant,
  deleteClaims,
  findJoinableGroups,
  insertClaim,
  listClaimedGroups,
  listGroupsWithClaims,
  lockMembership,
} from "./claimed-groups.store.ts";

interface Followed {
  readonly act: Act;
  readonly connectionId: string;
  readonly userId: string;
  /** What the claims say now. */
  readonly groupIds: readonly string[];
}

/** Makes the user a member of these groups, and of no other by this connection. Writes nothing where nothing is different. */
export async function followClaimedGroups(db: Db, deps: RecordDeps, followed: Followed): Promise<void> {
  if (!(await findDifference(db, followed)).isAny) return;
  await deps.database.transaction((tx) => applyClaimedGroups(tx, deps, followed));
}

/** Within the transaction that links or unlinks. */
export async function applyClaimedGroups(tx: Db, deps: RecordDeps, followed: Followed): Promise<void> {
  const { act, connectionId, userId } = followed;
  const claimant: Claimant = { orgId: act.orgId, connectionId, userId };
  // Connection, membership, groups: whoever ends one of them takes them in this order too.
  if (!(await holdConnection(tx, { orgId: act.orgId, id: connectionId }))) return;
  const connection = await findConnection(tx, { orgId: act.orgId, id: connectionId });
  // What the browser came back with may have been read by a mapping of before.
  const mapped = Object.values(connection?.settings?.groups?.map ?? {});
  const groupIds = followed.groupIds.filter((id) => mapped.includes(id));
  await lockMembership(tx, claimant);
  const { added, removed } = await findDifference(tx, { ...followed, groupIds });
  const now = deps.clock();
  for (const groupId of [...added, ...removed].sort()) {
    const group = await lockGroup(tx, { orgId: act.orgId, id: groupId });
    if (!group) continue;
    const isAdded = added.includes(groupId);
    const ended = isAdded
      ? []
      : await deleteClaims(tx, { orgId: act.orgId, id: connectionId }, { groupId, userId });
    const isChanged = isAdded ? await insertClaim(tx, claimant, { groupId, now }) : ended.length > 0;
    if (!isChanged) continue;
    const change = { added: isAdded ? [userId] : [], removed: ended };
    await recordMembers(tx, deps, { act, groupId, name: group.displayName, now, ...change });
  }
}

async function findDifference(db: Db, { act, connectionId, userId, groupIds }: Followed) {
  const claimant: Claimant = { orgId: act.orgId, connectionId, userId };
  const present = await listClaimedGroups(db, claimant);
  const wanted = await findJoinableGroups(db, claimant, groupIds);
  const added = wanted.filter((id) => !present.includes(id));
  const removed = present.filter((id) => !wanted.includes(id));
  return { added, removed, isAny: added.length + removed.length > 0 };
}

/** Of everybody: those of the groups that are named, or of all. The caller has locked the connection. */
export async function endClaimedGroups(
  tx: Db,
  deps: RecordDeps,
  { orgId, id }: ConnectionKey,
  { act, except = [] }: { readonly act: Act; readonly except?: readonly string[] },
): Promise<void> {
  const now = deps.clock();
  const ending = (await listGroupsWithClaims(tx, { orgId, id })).filter((group) => !except.includes(group));
  for (const groupId of ending) {
    const group = await lockGroup(tx, { orgId, id: groupId });
    const removed = group ? await deleteClaims(tx, { orgId, id }, { groupId }) : [];
    if (group && removed.length > 0)
      await recordMembers(tx, deps, { act, groupId, name: group.displayName, now, added: [], removed });
  }
}

/** The audit log names the members of a small change. */
const MAX_NAMED = 20;

async function recordMembers(
  tx: Db,
  deps: RecordDeps,
  {
    act,
    groupId,
    name,
    now,
    added,
    removed,
  }: {
    readonly act: Act;
    readonly groupId: string;
    readonly name: string;
    readonly now: number;
    readonly added: readonly string[];
    readonly removed: readonly string[];
  },
): Promise<void> {
  await touchMembers(tx, { orgId: act.orgId, id: groupId }, now);
  const named = (ids: readonly string[]) => ids.map((id) => `user:${id}`);
  const isSmall = added.length + removed.length <= MAX_NAMED;
  const details = {
    ...{ name, added: added.length, removed: removed.length },
    ...(isSmall && added.length > 0 ? { add: named(added) } : {}),
    ...(isSmall && removed.length > 0 ? { remove: named(removed) } : {}),
  };
  const event = { action: "group.members-changed" as const, target: groupId, details };
  await recordChange(tx, deps, "entitlement", { ...auditFields(act, now), ...event });
}
