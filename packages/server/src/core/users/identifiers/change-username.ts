/** A username given, changed or taken away by who looks after an account. */
import { isDuplicate } from "../../../db/duplicate.ts";
import type { Database } from "../../../db/open.ts";
import { recordAuditEvent } from "../../audit/audit.store.ts";
import type { Clock } from "../../clock.ts";
import { findUser, holdAccount } from "../users.store.ts";
import { setUsername } from "./identifiers.store.ts";

/** Another user of the organisation has it. */
export class UsernameTaken extends Error {}

/**
 * Nothing is written, and nothing recorded, for who has it already.
 * @param change.orgId the organisation that owns the account
 * @param change.username as `usernameKey` gives it, checked by `isUsername`; null takes it away
 * @returns false when there is no such user. @throws UsernameTaken
 */
export function changeUsername(
  deps: { readonly database: Database; readonly clock: Clock },
  change: { orgId: string; id: string; username: string | null; actor: string; address?: string },
): Promise<boolean> {
  const { orgId, id, username, actor, address } = change;
  const changing = deps.database.transaction(async (tx) => {
    const now = deps.clock();
    await holdAccount(tx, { homeOrgId: orgId, id }, now);
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
    throw isDuplicate(error) ? new UsernameTaken() : error;
  });
}
