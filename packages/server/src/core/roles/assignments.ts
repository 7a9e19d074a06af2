/** Gives roles to users, groups, applications and system accounts, and takes them away. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { findApplication } from "../applications/applications.store.ts";
import { type Act, auditFields } from "../audit/audit.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import {
  type Assignment,
  deleteAssignment,
  findAssignment,
  insertAssignment,
  type Subject,
  subjectExists,
} from "./assignments.store.ts";
import { InvalidRole, type Role, RoleConflict } from "./role.ts";
import { findRole, findRoleByKey } from "./roles.store.ts";

/** By its id, by its application and key, or by both, which must agree. */
export interface RoleRef {
  readonly roleId?: string;
  /** Null: the organisation's own roles. */
  readonly applicationId?: string | null;
  readonly roleKey?: string;
}

export type NewAssignment = Act & Subject & { readonly role: RoleRef };

/** @throws InvalidRole naming every fault, RoleConflict */
export function assignRole(
  deps: RecordDeps,
  { role: ref, subjectType, subjectId, ...act }: NewAssignment,
): Promise<Assignment> {
  const { orgId } = act;
  return deps.database.transaction(async (tx) => {
    const role = await findNamedRole(tx, orgId, ref);
    if (!(await subjectExists(tx, orgId, { subjectType, subjectId })))
      throw invalid("/subjectId", `names no ${subjectType} of the organisation`);
    if (role.builtIn) throw new RoleConflict("built-in");
    const { id: roleId, key: roleKey, applicationId } = role;
    const assignment: Assignment = {
      ...{ orgId, id: newUuid(), roleId, roleKey, applicationId, subjectType, subjectId },
      ...{ createdBy: act.actor, createdAt: deps.clock() },
    };
    if (!(await insertAssignment(tx, assignment))) throw new RoleConflict("already-assigned");
    await record(tx, deps, act, { assignment, isNew: true });
    return assignment;
  });
}

/** @returns false when there is no such assignment */
export function unassignRole(
  deps: RecordDeps,
  { id, check, ...act }: Act & { readonly id: string; check?: (found: Assignment) => void | Promise<void> },
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const assignment = await findAssignment(tx, { orgId: act.orgId, id });
    if (!assignment) return false;
    await check?.(assignment);
    if (!(await deleteAssignment(tx, assignment))) return false;
    await record(tx, deps, act, { assignment, isNew: false });
    return true;
  });
}

/** @throws InvalidRole */
export async function findNamedRole(db: Db, orgId: string, ref: RoleRef): Promise<Role> {
  const { roleId, roleKey, applicationId } = ref;
  if (roleId === undefined) {
    if (roleKey === undefined) throw invalid("/roleId", "or applicationId and roleKey are required");
    if (applicationId != null && !(await findApplication(db, orgId, applicationId)))
      throw invalid("/applicationId", "names no application of the organisation");
    const found = await findRoleByKey(db, { orgId, key: roleKey, applicationId: applicationId ?? null });
    if (!found) throw invalid("/roleKey", "names no role of the application");
    return found;
  }
  const role = await findRole(db, { orgId, id: roleId });
  if (!role) throw invalid("/roleId", "names no role of the organisation");
  if (applicationId !== undefined && applicationId !== role.applicationId)
    throw invalid("/applicationId", "is not the role's application");
  if (roleKey !== undefined && roleKey !== role.key) throw invalid("/roleKey", "is not the role's key");
  return role;
}

const invalid = (path: string, message: string) => new InvalidRole([{ path, message }]);

const record = (
  tx: Db,
  deps: RecordDeps,
  act: Act,
  { assignment, isNew }: { assignment: Assignment; isNew: boolean },
): Promise<void> => {
  const { roleId: target, roleKey, subjectType, subjectId, applicationId } = assignment;
  return recordChange(tx, deps, "entitlement", {
    ...auditFields(act, deps.clock()),
    action: isNew ? "role.assigned" : "role.unassigned",
    ...{ target, subjectId },
    ...(applicationId === null ? {} : { applicationId }),
    details: { key: roleKey, subject: `${subjectType}:${subjectId}` },
  });
};
