/** Usernames: `preferred_username` in tokens. */
import { isUniqueViolation } from "../../db/duplicate.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { lockUserAccount, setUsername } from "./account.store.ts";
import { findUser } from "./users.store.ts";

/** As stored and compared. */
export const usernameKey = (username: string): string => username.trim().normalize("NFKC").toLowerCase();

/** Without @, so that it can't look like an email address. @param key as returned by `usernameKey` */
export const isUsername = (key: string): boolean => /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{1,63}$/u.test(key);

export class UsernameTaken extends Error {}

/**
 * Does nothing when the user already has it.
 * @param change.orgId the home organisation
 * @param change.username as returned by `usernameKey`, checked by `isUsername`; null removes it
 * @returns false when there is no such user.
 * @throws UsernameTaken
 */
export function changeUsername(
  deps: CoreDeps,
  change: Act & { readonly id: string; readonly username: string | null },
): Promise<boolean> {
  const { orgId, id, username } = change;
  const changing = deps.database.transaction(async (tx) => {
    const now = deps.clock();
    await lockUserAccount(tx, { homeOrgId: orgId, id }, now);
    const user = await findUser(tx, orgId, id);
    if (!user || user.homeOrgId !== orgId) return false;
    if (user.username === username) return true;
    if (!(await setUsername(tx, { orgId, id }, username, now))) throw new UsernameTaken();
    await recordAuditEvent(tx, {
      ...auditFields(change, now),
      action: "user.username-changed",
      target: id,
    });
    return true;
  });
  return changing.catch((error: unknown) => {
    throw isUniqueViolation(error) ? new UsernameTaken() : error;
  });
}
