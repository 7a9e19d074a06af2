/** Another address for somebody, which an administrator says is theirs: no mail asks, one tells the old address. */
import { isDuplicate } from "../../db/duplicate.ts";
import type { Database } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import { type NoticeDeps, sendNotice } from "../mail/notices.ts";
import { changeEmail } from "./identifiers/identifiers.store.ts";
import { emailKey, isEmail, type User } from "./user.ts";
import { InvalidUser } from "./users.ts";

/**
 * Links that were sent to the old address open nothing any more.
 * @param user of the organisation that owns the account, as the administrator saw it
 * @throws InvalidUser; `email-taken` also when the user has another address than the one that was seen
 */
export async function changeToKnownAddress(
  deps: NoticeDeps & { readonly database: Database },
  user: User,
  change: { newEmail: string; actor: string; address: string },
): Promise<void> {
  const to = change.newEmail.trim();
  if (!isEmail(to)) throw new InvalidUser("invalid-email", "the email address is not valid");
  const { homeOrgId: orgId, id, email: from } = user;
  const { actor, address } = change;
  const taken = () => new InvalidUser("email-taken", "the organisation has a user of this address already");
  const changing = deps.database.transaction(async (tx) => {
    const now = deps.clock();
    if (!(await changeEmail(tx, { orgId, id, from, to, toKey: emailKey(to) }, now))) throw taken();
    await recordAuditEvent(tx, { orgId, at: now, actor, action: "email.changed", target: id, address });
    // Where the administrator is, is not told to the user.
    await sendNotice(tx, deps, user, { template: "EmailChanged" });
  });
  await changing.catch((error: unknown) => {
    throw isDuplicate(error) ? taken() : error;
  });
}
