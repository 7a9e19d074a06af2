/** The role of a member, and attributes and groups for custom scopes. */
import { isNestedWithin, MAX_JSON_DEPTH } from "@signet/protocol/json-depth";
import { isExactJson } from "@signet/protocol/json-exact";
import type { Db } from "../../db/open.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { isGroupName } from "../groups/group.ts";
import { setLocalGroups } from "../groups/named-groups.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { lockUserAccount } from "./account.store.ts";
import { requireAnotherAdministrator } from "./leaving/last-administrator.ts";
import { setRole } from "./members/members.store.ts";
import type { Attributes, Role } from "./user.ts";
import { findUser, type MemberRecord, setMemberAttributes } from "./users.store.ts";

export class InvalidMemberRecord extends Error {
  override readonly name = "InvalidMemberRecord";
}

const limits = { attributes: 100, groups: 200, text: 16_000 } as const;

/**
 * Replaces the given parts. Groups are named: the member joins the local groups with these names, which are made where there
 * are none, and leaves every other local group.
 * @returns false when there is no such member. @throws InvalidMemberRecord
 */
export async function changeMemberRecord(
  deps: RecordDeps,
  input: Act & { readonly id: string; readonly record: MemberRecord },
): Promise<boolean> {
  const { orgId, id, record } = input;
  requireValid(record.attributes ?? {}, "attribute");
  requireValid(record.membership?.attributes ?? {}, "membership attribute");
  const groups = record.membership?.groups;
  if (groups && !areGroups(groups))
    throw new InvalidMemberRecord(
      `at most ${limits.groups} groups, each of 1 to 200 characters without control characters`,
    );
  return deps.database.transaction(async (tx) => {
    const member = await findUser(tx, orgId, id);
    if (!member) return false;
    // Waits for a concurrent form submission that compares versions.
    await lockUserAccount(tx, member, deps.clock());
    if (!(await setMemberAttributes(tx, { orgId, id }, record))) return false;
    if (groups) await joinNamedGroups(tx, deps, { ...input, groups });
    await recordAuditEvent(tx, {
      ...auditFields(input, deps.clock()),
      action: "user.attributes-changed",
      target: id,
      details: { changed: Object.keys(record) },
    });
    return true;
  });
}

async function joinNamedGroups(
  tx: Db,
  deps: RecordDeps,
  { id: userId, groups: names, ...act }: Act & { readonly id: string; readonly groups: readonly string[] },
): Promise<void> {
  const now = deps.clock();
  const { orgId } = act;
  const { created, isChanged } = await setLocalGroups(tx, { orgId, userId }, { names, now });
  for (const { id: target, name } of created) {
    const event = { action: "group.created" as const, target, details: { name } };
    await recordChange(tx, deps, "entitlement", { ...auditFields(act, now), ...event });
  }
  if (isChanged) await deps.changes.publish(tx, { orgId, topic: "entitlement" });
}

/**
 * Changes the role, of guests too. Does nothing when the member already has the role.
 * @returns false when there is no such member.
 * @throws LastAdministrator
 */
export function changeRole(
  deps: CoreDeps,
  change: Act & { readonly id: string; readonly role: Role },
): Promise<boolean> {
  const { orgId, id, role } = change;
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const found = await findUser(tx, orgId, id);
    if (!found) return false;
    await lockUserAccount(tx, found, now);
    const user = await findUser(tx, orgId, id);
    if (!user) return false;
    if (user.role === role) return true;
    if (role !== "Administrator") await requireAnotherAdministrator(tx, { orgId, userId: id });
    await setRole(tx, { orgId, userId: id }, role);
    const event = { ...auditFields(change, now), action: "user.role-changed", target: id } as const;
    await recordAuditEvent(tx, { ...event, details: { from: user.role, to: role } });
    return true;
  });
}

export const areGroups = (groups: readonly string[]): boolean =>
  groups.length <= limits.groups && groups.every(isGroupName);

/** A claim takes its name from an attribute: `__proto__` would be assigned instead of told. */
const haveNames = (attributes: Attributes): boolean =>
  Object.keys(attributes).every((name) => /^[A-Za-z0-9_-]{1,100}$/.test(name) && name !== "__proto__");

const areWithinLimits = (attributes: Attributes): boolean =>
  Object.keys(attributes).length <= limits.attributes &&
  isNestedWithin(attributes) &&
  isExactJson(attributes) &&
  JSON.stringify(attributes).length <= limits.text;

/** @param value as entered */
export const areAttributes = (value: unknown): value is Attributes =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  haveNames(value as Attributes) &&
  areWithinLimits(value as Attributes);

function requireValid(attributes: Attributes, what: string): void {
  if (!haveNames(attributes))
    throw new InvalidMemberRecord(`the name of an ${what} has 1 to 100 of A-Z a-z 0-9 _ -`);
  if (!areWithinLimits(attributes))
    throw new InvalidMemberRecord(
      `at most ${limits.attributes} of each kind, ${limits.text} characters in all, ${MAX_JSON_DEPTH} deep, of Unicode text and numbers in range`,
    );
}
