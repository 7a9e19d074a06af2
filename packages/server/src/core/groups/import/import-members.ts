/** Says what an import does with each line of a list, and adds whom it names to a group. */
import type { Db } from "../../../db/open.ts";
import type { RecordDeps } from "../../record-changes.ts";
import { emailKey } from "../../users/user.ts";
import { groupNameKey } from "../group.ts";
import type { MemberRef } from "../group-members.store.ts";
import { changeMembers, MAX_CHANGES } from "../group-members.ts";
import type { GroupKey } from "../groups.store.ts";
import type { GroupAct } from "../groups.ts";
import { nestingFault } from "../nesting.store.ts";
import {
  findGroupsByName,
  findMembersByEmail,
  findMembersById,
  findPresentMembers,
} from "./member-references.store.ts";
import type { NamedMember } from "./read-members.ts";

export const memberFates = ["add", "member", "repeated", "unknown", "group-cycle", "group-depth"] as const;
export type MemberFate = (typeof memberFates)[number];

export interface FatedMember extends NamedMember {
  readonly fate: MemberFate;
  /** Whom it names; undefined for nobody. */
  readonly member: MemberRef | undefined;
}

/** In the order of the list. A line that names somebody again does nothing. */
export async function fateMembers(
  db: Db,
  group: GroupKey,
  named: readonly NamedMember[],
): Promise<FatedMember[]> {
  const find = await finder(db, group.orgId, named);
  const found = named.map((one) => ({ ...one, member: find(one) }));
  const present = await findPresentMembers(
    db,
    group,
    found.flatMap(({ member }) => member ?? []),
  );
  const seen = new Set<string>();
  const fated: FatedMember[] = [];
  for (const one of found) {
    const { member } = one;
    const isAgain = member !== undefined && seen.has(member.id);
    if (member) seen.add(member.id);
    fated.push({ ...one, fate: isAgain ? "repeated" : await fateOf(db, group, member, present) });
  }
  return fated;
}

async function fateOf(
  db: Db,
  { orgId, id: groupId }: GroupKey,
  member: MemberRef | undefined,
  present: ReadonlySet<string>,
): Promise<MemberFate> {
  if (!member) return "unknown";
  if (present.has(member.id)) return "member";
  if (member.type === "user") return "add";
  return (await nestingFault(db, { orgId, groupId, memberIds: [member.id] })) ?? "add";
}

/** A user's email address comes before a group of the same name. */
async function finder(
  db: Db,
  orgId: string,
  named: readonly NamedMember[],
): Promise<(one: NamedMember) => MemberRef | undefined> {
  const textsOf = (...kinds: ReadonlyArray<NamedMember["by"]>) =>
    named.filter(({ by, text }) => kinds.includes(by) && text !== "").map(({ text }) => text);
  const ids = await findMembersById(
    db,
    orgId,
    textsOf("id").map((id) => id.toLowerCase()),
  );
  const users = await findMembersByEmail(db, orgId, textsOf("email", "any").map(emailKey));
  const groups = await findGroupsByName(db, orgId, textsOf("group", "any").map(groupNameKey));
  const userOf = (text: string): MemberRef | undefined => {
    const id = users.get(emailKey(text));
    return id === undefined ? undefined : { type: "user", id };
  };
  const groupOf = (text: string): MemberRef | undefined => {
    const id = groups.get(groupNameKey(text));
    return id === undefined ? undefined : { type: "group", id };
  };
  return ({ by, text }) => {
    if (text === "") return undefined;
    if (by === "id") return ids.get(text.toLowerCase());
    return (by === "group" ? undefined : userOf(text)) ?? (by === "email" ? undefined : groupOf(text));
  };
}

/**
 * In the caller's transaction, if `deps` are bound to one: all of them or none.
 * @throws InvalidGroup, GroupConflict as `changeMembers`
 */
export async function addMembers(
  deps: RecordDeps,
  { id, members, ...act }: GroupAct & { readonly id: string; readonly members: readonly MemberRef[] },
): Promise<void> {
  for (let at = 0; at < members.length; at += MAX_CHANGES)
    await changeMembers(deps, { ...act, id, add: members.slice(at, at + MAX_CHANGES), remove: [] });
}
