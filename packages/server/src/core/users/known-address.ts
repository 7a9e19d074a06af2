/**
 * Changes a user's email address to one that an administrator vouches for: no verification, but a notice to the old
 * address.
 */
import { isUniqueViolation } from "../../db/database-errors.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { type NoticeDeps, sendNotice } from "../mail/notices.ts";
import { changeEmail } from "./account.store.ts";
import { emailKey, type User } from "./user.ts";
import { InvalidUser, requireEmail } from "./users.ts";

/**
 * Voids links sent to the old address.
 * @param user of the home organisation, as the administrator saw it
 * @throws InvalidUser; `email-taken` also when the address has changed since
 */
export async function setVerifiedEmail(
  deps: NoticeDeps & CoreDeps,
  user: User,
  change: { newEmail: string; actor: string; address: string },
): Promise<void> {
  const to = requireEmail(change.newEmail);
  const { homeOrgId: orgId, id, email: from } = user;
  const { actor, address } = change;
  const changing = deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const isChanged = await changeEmail(tx, { orgId, id, from, to, toKey: emailKey(to) }, now);
    if (!isChanged) throw new InvalidUser("email-taken");
    await recordAuditEvent(tx, { orgId, at: now, actor, action: "email.changed", target: id, address });
    // Without the administrator's address.
    await sendNotice(tx, deps, user, { template: "EmailChanged" });
  });
  await changing.catch((error: unknown) => {
    throw isUniqueViolation(error) ? new InvalidUser("email-taken") : error;
  });
}
