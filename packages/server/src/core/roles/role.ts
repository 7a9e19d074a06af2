/** A role of an application, or of the organisation: what holders may do, as permissions `resource:action` (directory.md). */
import type { RecordOf } from "../../db/records.ts";
import type { RoleTable } from "../../db/tables/groups.ts";
import { isPlainText } from "../plain-text.ts";

export interface Role extends RecordOf<Omit<RoleTable, "permissions" | "built_in">> {
  readonly permissions: readonly string[];
  /** `Administrator` and `Standard`: a user's own `role` gives them. */
  readonly builtIn: boolean;
}

export interface RoleFault {
  /** JSON Pointer of the member. */
  readonly path: string;
  readonly message: string;
}

export class InvalidRole extends Error {
  override readonly name = "InvalidRole";
  readonly faults: readonly RoleFault[];
  constructor(faults: readonly RoleFault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join("; "));
    this.faults = faults;
  }
}

const conflicts = {
  "key-taken": "the application already has a role with this key",
  "changed-meanwhile": "another request has changed the role",
  "built-in": "a built-in role is given by a user's own role and cannot be changed",
  "already-assigned": "the subject has this role already",
} as const;

export class RoleConflict extends Error {
  override readonly name = "RoleConflict";
  readonly code: keyof typeof conflicts;
  constructor(code: keyof typeof conflicts) {
    super(conflicts[code]);
    this.code = code;
  }
}

export const MAX_PERMISSIONS = 1_000;
/** Of one application, or of the organisation itself. */
export const MAX_ROLES = 1_000;

export const isRoleKey = (key: string): boolean => /^[a-z0-9:._-]{1,64}$/.test(key);
export const isPermission = (text: string): boolean => /^[a-z0-9._-]{1,64}:[a-z0-9._-]{1,64}$/.test(text);

export type RoleContent = Pick<Role, "name" | "description" | "permissions">;

/** Trimmed, an empty description as null, each permission once. @throws InvalidRole naming every fault */
export function validRole(role: RoleContent & Pick<Role, "key">): RoleContent {
  const name = role.name.trim();
  const description = role.description?.trim() || null;
  const permissions = [...new Set(role.permissions)];
  const faults = [
    ...(isRoleKey(role.key) ? [] : [{ path: "/key", message: "has 1 to 64 of a-z 0-9 : . _ -" }]),
    ...(isPlainText(name, 1, 100) ? [] : [textFault("name", 1, 100)]),
    ...(description === null || isPlainText(description, 1, 500) ? [] : [textFault("description", 0, 500)]),
    ...(permissions.length > MAX_PERMISSIONS
      ? [{ path: "/permissions", message: `at most ${MAX_PERMISSIONS}` }]
      : []),
    ...role.permissions.flatMap((permission, at) =>
      isPermission(permission)
        ? []
        : [{ path: `/permissions/${at}`, message: "must be resource:action, each 1 to 64 of a-z 0-9 . _ -" }],
    ),
  ];
  if (faults.length > 0) throw new InvalidRole(faults.slice(0, MAX_FAULTS));
  return { name, description, permissions };
}

const MAX_FAULTS = 100;

const textFault = (member: string, min: number, max: number): RoleFault => ({
  path: `/${member}`,
  message: `must be ${min} to ${max} characters without control characters`,
});
