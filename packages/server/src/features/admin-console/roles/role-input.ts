/** The form of a role: what is typed, and its faults. */
import { InvalidRole, type Role, RoleConflict, type RoleContent } from "../../../core/roles/role.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export type RoleInput = {
  /** Typed where the address names none: a name or an ID, or nothing for the organisation itself. */
  application: string;
  key: string;
  name: string;
  description: string;
  permissions: string;
};

export const emptyRole: RoleInput = {
  ...{ application: "", key: "", name: "", description: "", permissions: "" },
};

export const toRoleInput = ({ key, name, description, permissions }: Role): RoleInput => ({
  ...{ application: "", key, name, description: description ?? "", permissions: permissions.join("\n") },
});

/** More than a role can have, so that the rule names the fault. */
const MAX_LETTERS = 200_000;

export function readRoleInput(values: ReadonlyMap<string, string>): RoleInput {
  const read = (name: keyof RoleInput) => (values.get(name) ?? "").trim().slice(0, MAX_LETTERS);
  return {
    application: read("application").slice(0, 254),
    ...{ key: read("key"), name: read("name"), description: read("description") },
    permissions: read("permissions").replaceAll("\r\n", "\n"),
  };
}

export const toRoleContent = ({ name, description, permissions }: RoleInput): RoleContent => ({
  name,
  description: description || null,
  permissions: permissions.split(/\s+/u).filter((permission) => permission !== ""),
});

/** @returns undefined for what is not about the form */
export function roleFaults(
  error: unknown,
  { console: { roles: text } }: Messages,
): Record<string, string> | undefined {
  if (error instanceof RoleConflict && error.code === "key-taken") return { key: text.faults.taken };
  if (!(error instanceof InvalidRole)) return undefined;
  const ids = error.faults.map(({ path }): Exclude<keyof RoleInput, "application"> | undefined => {
    const [, member = ""] = path.split("/");
    return member === "key" || member === "name" || member === "description" || member === "permissions"
      ? member
      : undefined;
  });
  // The application has as many as it can have.
  return Object.fromEntries(ids.map((id) => (id ? [id, text.faults[id]] : ["key", text.faults.full])));
}
