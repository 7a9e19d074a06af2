/** Who is in a group: users, guests and other groups. */
import { auditFields } from "../audit/audit.store.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { type Group, GroupConflict, type GroupFault, InvalidGroup } from "./group.ts";
import {
  deleteMembers,
  findUnknownMembers,
  insertMembers,
  type MemberRef,
  touchMembers,
} from "./group-members.store.ts";
import { lockGroup } from "./groups.store.ts";
import { type GroupAct, requireSource } from "./groups.ts";
import { nestingFault } from "./nesting.store.ts";

/** Of one call, added and removed together. */
export const MAX_CHANGES = 1_000;

export interface MembersChange extends GroupAct {
  readonly id: string;
  readonly add: readonly MemberRef[];
  /** After the additions. Who is not a member may be among them. */
  readonly remove: readonly MemberRef[];
  /** Of the group as it is now, locked; throwing rolls everything back. */
  readonly check?: (group: Group) => void | Promise<void>;
}

/**
 * Adds and removes members, all or none of them; those who are, or are not, already make no difference.
 * @returns the group; undefined when there is none
 * @throws InvalidGroup with a path for each unknown member, GroupConflict
 */
export function changeMembers(
  deps: RecordDeps,
  { id, add, remove, check, ...act }: MembersChange,
): Promise<Group | undefined> {
  const { orgId } = act;
  return deps.database.transaction(async (tx) => {
    const nested = add.filter(({ type }) => type === "group");
    // One nesting after the other: each sees those that came before it.
    if (nested.length > 0) await lockOrganisation(tx, orgId);
    const group = await lockGroup(tx, { orgId, id });
    if (!group) return undefined;
    await check?.(group);
    requireSource(group, act);
    if (add.length + remove.length > MAX_CHANGES)
      throw new InvalidGroup([{ path: "", message: `at most ${MAX_CHANGES} members at once` }]);
    const unknown = await findUnknownMembers(tx, orgId, add);
    if (unknown.length > 0) throw new InvalidGroup(unknown.map((one) => unknownFault(add, one)));
    const now = deps.clock();
    const added = await insertMembers(tx, group, { members: add, now });
    const removed = await deleteMembers(tx, group, remove);
    if (nested.length > 0) {
      const fault = await nestingFault(tx, { orgId, groupId: id, memberIds: nested.map((one) => one.id) });
      if (fault) throw new GroupConflict(fault);
    }
    if (added + removed > 0) {
      await touchMembers(tx, group, now);
      const details = { name: group.displayName, added, removed, ...named(add, remove) };
      const event = { action: "group.members-changed" as const, target: id, details };
      await recordChange(tx, deps, "entitlement", { ...auditFields(act, now), ...event });
    }
    return group;
  });
}

const unknownFault = (add: readonly MemberRef[], unknown: MemberRef): GroupFault => ({
  path: `/add/${add.indexOf(unknown)}/id`,
  message: `names no ${unknown.type} of the organisation`,
});

/** The audit log names the members of a small change. */
const MAX_NAMED = 20;

function named(add: readonly MemberRef[], remove: readonly MemberRef[]) {
  const names = (members: readonly MemberRef[]) => members.map(({ type, id }) => `${type}:${id}`);
  if (add.length + remove.length > MAX_NAMED) return {};
  return {
    ...(add.length > 0 ? { add: names(add) } : {}),
    ...(remove.length > 0 ? { remove: names(remove) } : {}),
  };
}
