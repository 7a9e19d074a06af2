/**
 * Application access (wire-contract.md §4): every member of the organisation, or assigned users only. Checked at
 * sign-in (OAuth and federation), at token refresh and for session keys.
 */
import type { Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import { findApplication, lockApplication } from "../applications/applications.store.ts";
import type { AuditAction } from "../audit/actions.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { revokeSessionKeys } from "../session-keys/session-keys.store.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
import { findUser } from "../users/users.store.ts";
import { deleteAssignment, findAssigned, insertAssignment, isAssigned } from "./application-access.store.ts";

/** @param userId a member of the application's organisation */
export async function mayUse(
  db: Db,
  { orgId, id, settings }: Pick<Application, "orgId" | "id" | "settings">,
  userId: string,
): Promise<boolean> {
  return settings.access === "everyone" || isAssigned(db, { orgId, applicationId: id, userId });
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
export function assignUser(deps: CoreDeps, act: AssignmentAct): Promise<boolean | Missing> {
  const { orgId, applicationId, userId } = act;
  return deps.database.transaction(async (tx) => {
    if (!(await lockApplication(tx, { orgId, id: applicationId }))) return "no-application";
    if (!(await findUser(tx, orgId, userId))) return "no-user";
    const now = deps.clock();
    if (!(await insertAssignment(tx, { orgId, applicationId, userId, by: act.actor, now }))) return false;
    await record(tx, act, "application.user-assigned", now);
    return true;
  });
}

/**
 * Unassigns a user. Where access is limited to assigned users, this revokes the user's session keys, refresh tokens
 * and their access tokens immediately.
 * @returns false when the user was not assigned
 */
export function unassignUser(deps: CoreDeps, act: AssignmentAct): Promise<boolean> {
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
    await record(tx, act, "application.user-unassigned", now);
    return true;
  });
}

const record = (tx: Db, act: AssignmentAct, action: AuditAction, now: number): Promise<void> => {
  const { applicationId: target, userId } = act;
  return recordAuditEvent(tx, { ...auditFields(act, now), action, target, details: { userId } });
};
