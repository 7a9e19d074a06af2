/**
 * Changes a user's email address to one that an administrator vouches for: no verification, but a notice to the old
 * address.
 */
import { isUniqueViolation } from "../../db/duplicate.ts";
import type { Database } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import { type NoticeDeps, sendNotice } from "../mail/notices.ts";
import { changeEmail } from "./identifiers/identifiers.store.ts";
import { emailKey, isEmail, type User } from "./user.ts";
import { InvalidUser } from "./users.ts";

/**
 * Voids links sent to the old address.
 * @param user of the home organisation, as the administrator saw it
 * @throws InvalidUser; `email-taken` also when the address has changed since
 */
export async function setVerifiedEmail(
  deps: NoticeDeps & { readonly database: Database },
  user: User,
  change: { newEmail: string; actor: string; address: string },
): Promise<void> {
  const to = change.newEmail.trim();
  if (!isEmail(to)) throw new InvalidUser("invalid-email", "the email address is not valid");
  const { homeOrgId: orgId, id, email: from } = user;
  const { actor, address } = change;
  const taken = () =>
    new InvalidUser("email-taken", "the organisation already has a user with this email address");
  const changing = deps.database.transaction(async (tx) => {
    const now = deps.clock();
    if (!(await changeEmail(tx, { orgId, id, from, to, toKey: emailKey(to) }, now))) throw taken();
    await recordAuditEvent(tx, { orgId, at: now, actor, action: "email.changed", target: id, address });
    // Without the administrator's address.
    await sendNotice(tx, deps, user, { template: "EmailChanged" });
  });
  await changing.catch((error: unknown) => {
    throw isUniqueViolation(error) ? taken() : error;
  });
}
