/** Sets or removes a username. */
import { isUniqueViolation } from "../../../db/duplicate.ts";
import type { Database } from "../../../db/open.ts";
import { recordAuditEvent } from "../../audit/audit.store.ts";
import type { Clock } from "../../clock.ts";
import { findUser, lockUserAccount } from "../users.store.ts";
import { setUsername } from "./identifiers.store.ts";

export class UsernameTaken extends Error {}

/**
 * Does nothing when the user already has it.
 * @param change.orgId the home organisation
 * @param change.username as returned by `usernameKey`, checked by `isUsername`; null removes it
 * @returns false when there is no such user.
 * @throws UsernameTaken
 */
export function changeUsername(
  deps: { readonly database: Database; readonly clock: Clock },
  change: { orgId: string; id: string; username: string | null; actor: string; address?: string },
): Promise<boolean> {
  const { orgId, id, username, actor, address } = change;
  const changing = deps.database.transaction(async (tx) => {
    const now = deps.clock();
    await lockUserAccount(tx, { homeOrgId: orgId, id }, now);
    const user = await findUser(tx, orgId, id);
    if (!user || user.homeOrgId !== orgId) return false;
    if (user.username === username) return true;
    if (!(await setUsername(tx, { orgId, id }, username, now))) throw new UsernameTaken();
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor,
      action: "user.username-changed",
      target: id,
      address,
    });
    return true;
  });
  return changing.catch((error: unknown) => {
    throw isUniqueViolation(error) ? new UsernameTaken() : error;
  });
}
