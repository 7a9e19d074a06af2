/** Creates, changes and deletes roles. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { lockApplication } from "../applications/applications.store.ts";
import type { AuditAction } from "../audit/actions.ts";
import { type Act, auditFields } from "../audit/audit.store.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { InvalidRole, MAX_ROLES, type Role, RoleConflict, type RoleContent, validRole } from "./role.ts";
import { countRoles, deleteRoleRow, insertRole, lockRole, replaceRole } from "./roles.store.ts";

export interface NewRole extends Act {
  /** Null: the organisation's. */
  readonly applicationId: string | null;
  readonly key: string;
  readonly content: RoleContent;
}

/** @throws InvalidRole naming every fault, RoleConflict */
export async function createRole(
  deps: RecordDeps,
  { applicationId, key, content, ...act }: NewRole,
): Promise<Role> {
  const now = deps.clock();
  const { orgId } = act;
  const role: Role = {
    ...{ orgId, id: newUuid(), applicationId, key },
    ...validRole({ key, ...content }),
    ...{ builtIn: false, createdAt: now, updatedAt: now, version: 1 },
  };
  await deps.database.transaction(async (tx) => {
    // Concurrent creations are counted one after the other.
    if (applicationId === null) await lockOrganisation(tx, orgId);
    else if (!(await lockApplication(tx, { orgId, id: applicationId })))
      throw new InvalidRole([
        { path: "/applicationId", message: "names no application of the organisation" },
      ]);
    if ((await countRoles(tx, role)) >= MAX_ROLES)
      throw new InvalidRole([{ path: "/applicationId", message: `has ${MAX_ROLES} roles, the most` }]);
    if (!(await insertRole(tx, role))) throw new RoleConflict("key-taken");
    await record(tx, deps, act, "role.created", role);
  });
  return role;
}

/** Members of the content that are absent stay. */
export interface RoleChange extends Act {
  readonly id: string;
  readonly content: Partial<RoleContent>;
  /** Of the role as it is now, locked; throwing rolls everything back. */
  readonly check?: (role: Role) => void | Promise<void>;
}

/** @returns undefined when there is no such role. @throws InvalidRole naming every fault, RoleConflict */
export function changeRole(
  deps: RecordDeps,
  { id, content, check, ...act }: RoleChange,
): Promise<Role | undefined> {
  return deps.database.transaction(async (tx) => {
    const before = await lockRole(tx, { orgId: act.orgId, id });
    if (!before) return undefined;
    await check?.(before);
    if (before.builtIn) throw new RoleConflict("built-in");
    const wanted = validRole({ ...before, ...content });
    const members = ["name", "description", "permissions"] as const;
    const isSame = (member: (typeof members)[number]) =>
      JSON.stringify(wanted[member]) === JSON.stringify(before[member]);
    const changed = members.filter((member) => !isSame(member));
    if (changed.length === 0) return before;
    const role = { ...before, ...wanted, updatedAt: deps.clock(), version: before.version + 1 };
    await replaceRole(tx, role);
    await record(tx, deps, act, "role.changed", role, { changed });
    return role;
  });
}

/** With all its assignments. @returns false when there is no such role. @throws RoleConflict */
export function deleteRole(
  deps: RecordDeps,
  { id, check, ...act }: Omit<RoleChange, "content">,
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const role = await lockRole(tx, { orgId: act.orgId, id });
    if (!role) return false;
    await check?.(role);
    if (role.builtIn) throw new RoleConflict("built-in");
    await deleteRoleRow(tx, role);
    await record(tx, deps, act, "role.deleted", role);
    return true;
  });
}

const record = (
  tx: Db,
  deps: RecordDeps,
  act: Act,
  action: AuditAction,
  { id, key, applicationId }: Role,
  details: { readonly changed?: readonly string[] } = {},
): Promise<void> =>
  recordChange(tx, deps, "entitlement", {
    ...auditFields(act, deps.clock()),
    action,
    target: id,
    ...(applicationId === null ? {} : { applicationId }),
    details: { key, ...details },
  });
