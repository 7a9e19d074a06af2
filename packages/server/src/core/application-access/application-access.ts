/**
 * Application access (wire-contract.md §4): every member of the organisation, or assigned users only. Checked at
 * sign-in (OAuth and federation), at token refresh and for session keys.
 */
import type { Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import { findApplication, lockApplication } from "../applications/applications.store.ts";
import { type Act, type AuditEvent, auditFields } from "../audit/audit.store.ts";
import { lockGroup } from "../groups/groups.store.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { revokeSessionKeys } from "../session-keys/session-keys.store.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
import { findUser } from "../users/users.store.ts";
import {
  deleteAssignment,
  deleteGroupAssignment,
  findAssigned,
  insertAssignment,
  insertGroupAssignment,
  isAssigned,
  isAssignedByGroup,
} from "./application-access.store.ts";

/** @param userId a member of the application's organisation */
export async function mayUse(
  db: Db,
  { orgId, id, settings }: Pick<Application, "orgId" | "id" | "settings">,
  userId: string,
): Promise<boolean> {
  if (settings.access === "everyone") return true;
  const assignment = { orgId, applicationId: id, userId };
  return (await isAssigned(db, assignment)) || isAssignedByGroup(db, assignment);
}

/** Those of an organisation's applications that the user may use, in their order: one query for all of them. */
export async function usableBy<Some extends Pick<Application, "id" | "settings">>(
  db: Db,
  applications: readonly Some[],
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<Some[]> {
  const isOpen = ({ settings }: Some) => settings.access === "everyone";
  const closed = applications.filter((one) => !isOpen(one)).map(({ id }) => id);
  const assigned = await findAssigned(db, { orgId, userId, applicationIds: closed });
  return applications.filter((one) => isOpen(one) || assigned.has(one.id));
}

export interface AssignmentAct extends Act {
  readonly applicationId: string;
  readonly userId: string;
}

/** Which of the two the organisation doesn't have. */
export type Missing = "no-application" | "no-user";

/** @returns whether the assignment is new */
export function assignUser(deps: RecordDeps, act: AssignmentAct): Promise<boolean | Missing> {
  const { orgId, applicationId, userId } = act;
  return deps.database.transaction(async (tx) => {
    if (!(await lockApplication(tx, { orgId, id: applicationId }))) return "no-application";
    if (!(await findUser(tx, orgId, userId))) return "no-user";
    const now = deps.clock();
    if (!(await insertAssignment(tx, { orgId, applicationId, userId, by: act.actor, now }))) return false;
    await record(tx, deps, act, { action: "application.user-assigned", details: { userId } });
    return true;
  });
}

/**
 * Unassigns a user. Where access is limited to assigned users, this revokes the user's session keys, refresh tokens
 * and their access tokens immediately.
 * @returns false when the user was not assigned
 */
export function unassignUser(deps: RecordDeps, act: AssignmentAct): Promise<boolean> {
  const { orgId, applicationId, userId } = act;
  return deps.database.transaction(async (tx) => {
    if (!(await deleteAssignment(tx, { orgId, applicationId, userId }))) return false;
    const now = deps.clock();
    const application = await findApplication(tx, orgId, applicationId);
    if (application?.settings.access === "assigned") {
      const ended = { orgId, applicationId, userId, now, reason: "user_unassigned" };
      await revokeSessionKeys(tx, ended);
      await revokeTokenFamilies(tx, ended);
    }
    await record(tx, deps, act, { action: "application.user-unassigned", details: { userId } });
    return true;
  });
}

export interface GroupAssignmentAct extends Act {
  readonly applicationId: string;
  readonly groupId: string;
}

/** @returns whether the assignment is new, or which of the two the organisation doesn't have */
export function assignGroup(
  deps: RecordDeps,
  act: GroupAssignmentAct,
): Promise<boolean | "no-application" | "no-group"> {
  const { orgId, applicationId, groupId } = act;
  return deps.database.transaction(async (tx) => {
    if (!(await lockApplication(tx, { orgId, id: applicationId }))) return "no-application";
    if (!(await lockGroup(tx, { orgId, id: groupId }))) return "no-group";
    const assignment = { orgId, applicationId, groupId };
    if (!(await insertGroupAssignment(tx, { ...assignment, by: act.actor, now: deps.clock() }))) return false;
    await record(tx, deps, act, { action: "application.group-assigned", details: { groupId } });
    return true;
  });
}

/**
 * Unassigns a group. Its members who come in by nothing else are refused from then on: whatever uses a token, a session key or
 * a refresh token asks `mayUse` again.
 * @returns false when the group was not assigned
 */
export function unassignGroup(deps: RecordDeps, act: GroupAssignmentAct): Promise<boolean> {
  const { orgId, applicationId, groupId } = act;
  return deps.database.transaction(async (tx) => {
    if (!(await deleteGroupAssignment(tx, { orgId, applicationId, groupId }))) return false;
    await record(tx, deps, act, { action: "application.group-unassigned", details: { groupId } });
    return true;
  });
}

const record = (
  tx: Db,
  deps: RecordDeps,
  act: Act & { readonly applicationId: string },
  event: Pick<AuditEvent, "action" | "details">,
): Promise<void> =>
  recordChange(tx, deps, "entitlement", {
    ...auditFields(act, deps.clock()),
    ...event,
    target: act.applicationId,
  });
