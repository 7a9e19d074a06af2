/** A group of an organisation: users, guests and other groups (directory.md). */
import type { RecordOf } from "../../db/records.ts";
import type { UserGroupTable } from "../../db/tables/groups.ts";
import { isPlainText } from "../plain-text.ts";

export const groupSources = ["local", "scim", "connection"] as const;
export type GroupSource = (typeof groupSources)[number];

export interface Group extends RecordOf<Omit<UserGroupTable, "name_key" | "source" | "members_changed_at">> {
  readonly source: GroupSource;
}

/** At most so many groups in a chain, the outermost and the innermost included. */
export const MAX_DEPTH = 8;

export interface GroupFault {
  /** JSON Pointer of the member. */
  readonly path: string;
  readonly message: string;
}

export class InvalidGroup extends Error {
  override readonly name = "InvalidGroup";
  readonly faults: readonly GroupFault[];
  constructor(faults: readonly GroupFault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.faults = faults;
  }
}

const conflicts = {
  "name-taken": "the organisation already has a group with this name",
  "changed-meanwhile": "another request has changed the group",
  "read-only-source": "the group is changed by the connection that it comes from only",
  "group-cycle": "a group cannot be inside itself",
  "group-depth": `at most ${MAX_DEPTH} groups in a chain`,
} as const;

export class GroupConflict extends Error {
  override readonly name = "GroupConflict";
  readonly code: keyof typeof conflicts;
  constructor(code: keyof typeof conflicts) {
    super(conflicts[code]);
    this.code = code;
  }
}

/** PostgreSQL's index rows have room for it, whatever NFKC makes of 256 characters. */
const MAX_KEY = 400;

/** The name as compared: case, width and space around it don't matter. */
export const groupNameKey = (name: string): string =>
  name.trim().normalize("NFKC").toLowerCase().slice(0, MAX_KEY);

export const isGroupName = (name: string): boolean => isPlainText(name.trim(), 1, 200);

/** Entra ID's have as many. */
export const MAX_GROUP_NAME = 256;

/** What of a group may be set. */
export type GroupContent = Pick<Group, "displayName" | "description" | "externalId">;

/** Trimmed, and empty texts as null. @throws InvalidGroup naming every fault */
export function validGroup(content: GroupContent): GroupContent {
  const displayName = content.displayName.trim();
  const description = content.description?.trim() || null;
  const externalId = content.externalId || null;
  const faults = [
    ...(isPlainText(displayName, 1, MAX_GROUP_NAME) ? [] : [fault("displayName", 1, MAX_GROUP_NAME)]),
    ...(description === null || isPlainText(description, 1, 500) ? [] : [fault("description", 0, 500)]),
    ...(externalId === null || isPlainText(externalId, 1, 200) ? [] : [fault("externalId", 0, 200)]),
  ];
  if (faults.length > 0) throw new InvalidGroup(faults);
  return { displayName, description, externalId };
}

const fault = (member: keyof GroupContent, min: number, max: number): GroupFault => ({
  path: `/${member}`,
  message: `must be ${min} to ${max} characters without control characters`,
});
