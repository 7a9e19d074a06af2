/** Assigns users to applications whose access is `assigned`. */
import type { Database } from "../../db/open.ts";
import { findApplication, lockApplication } from "../applications/applications.store.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import { revokeSessionKeys } from "../session-keys/session-keys.store.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
import { findUser } from "../users/users.store.ts";
import { deleteAssignment, insertAssignment } from "./application-access.store.ts";

export interface AssignmentDeps {
  readonly database: Database;
  readonly clock: Clock;
}

export interface AssignmentAct {
  readonly orgId: string;
  readonly applicationId: string;
  readonly userId: string;
  readonly actor: string;
  readonly address?: string;
}

/** Which of the two the organisation doesn't have. */
export type Missing = "no-application" | "no-user";

/** @returns whether the assignment is new */
export function assignUser(deps: AssignmentDeps, act: AssignmentAct): Promise<boolean | Missing> {
  const { orgId, applicationId, userId, actor, address } = act;
  return deps.database.transaction(async (tx) => {
    if (!(await lockApplication(tx, { orgId, id: applicationId }))) return "no-application";
    if (!(await findUser(tx, orgId, userId))) return "no-user";
    const now = deps.clock();
    if (!(await insertAssignment(tx, { orgId, applicationId, userId, by: actor, now }))) return false;
    const event = {
      orgId,
      at: now,
      actor,
      action: "application.user-assigned" as const,
      target: applicationId,
    };
    await recordAuditEvent(tx, { ...event, address, details: { userId } });
    return true;
  });
}

/**
 * Unassigns a user. Where access is limited to assigned users, this revokes the user's session keys, refresh tokens
 * and their access tokens immediately.
 * @returns false when the user was not assigned
 */
export function unassignUser(deps: AssignmentDeps, act: AssignmentAct): Promise<boolean> {
  const { orgId, applicationId, userId, actor, address } = act;
  return deps.database.transaction(async (tx) => {
    if (!(await deleteAssignment(tx, { orgId, applicationId, userId }))) return false;
    const now = deps.clock();
    const application = await findApplication(tx, orgId, applicationId);
    if (application?.settings.access === "assigned") {
      const ended = { orgId, applicationId, userId, now, reason: "user_unassigned" };
      await revokeSessionKeys(tx, ended);
      await revokeTokenFamilies(tx, ended);
    }
    const event = {
      orgId,
      at: now,
      actor,
      action: "application.user-unassigned" as const,
      target: applicationId,
    };
    await recordAuditEvent(tx, { ...event, address, details: { userId } });
    return true;
  });
}
