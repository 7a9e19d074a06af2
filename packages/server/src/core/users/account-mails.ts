/** Changes of email addresses, by a link or at once, and password resets that an administrator requests. */
import { isUniqueViolation } from "../../db/database-errors.ts";
import { type LinkMailDeps, sendLinkMail } from "../actions/actions.ts";
import { linkAddress } from "../actions/link-address.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { NO_LANGUAGE } from "../mail/mail.ts";
import { type NoticeDeps, sendNotice } from "../mail/notices.ts";
import { changeEmail } from "./account.store.ts";
import { emailKey, type User } from "./user.ts";
import { findUserByEmail } from "./users.store.ts";
import { InvalidUser, requireEmail } from "./users.ts";

export interface AccountMailDeps extends LinkMailDeps, CoreDeps {
  readonly baseUrl: string;
}

export interface NewAddress {
  readonly newEmail: string;
  readonly actor: string;
  readonly address?: string;
  /** The language of the page, for users who have chosen none. */
  readonly locale?: string;
  /** False for the user's own request: it doesn't reveal whether the address is taken, and no email is sent then. */
  readonly tellsTaken?: boolean;
}

/**
 * Sends a link to the new address; the old one stays until the link is used.
 * @param user of the home organisation.
 * @throws InvalidUser; Error without SMTP
 */
export async function requestNewEmail(
  deps: AccountMailDeps,
  user: User,
  { newEmail, actor, address, locale, tellsTaken = true }: NewAddress,
): Promise<void> {
  const to = requireEmail(newEmail);
  const { homeOrgId: orgId, id } = user;
  await deps.database.transaction(async (tx) => {
    const other = await findUserByEmail(tx, orgId, emailKey(to));
    const isTaken = other !== undefined && other.user.id !== id;
    if (isTaken && tellsTaken) throw new InvalidUser("email-taken");
    await sendLinkMail(tx, deps, {
      orgId,
      type: "ChangeEmail",
      userId: id,
      data: { email: user.email, newEmail: to },
      recipient: to,
      account: user.email,
      locale: user.locale ?? locale ?? NO_LANGUAGE,
      addressOf: linkAddress(deps.baseUrl, "ChangeEmail"),
      isDecoy: isTaken,
      isKept: true,
      audit: { orgId, actor, action: "email-change.requested", target: id, address },
    });
  });
}

/**
 * Sends a password reset link that the user has not requested; the current password works until it is used.
 * @param user of the home organisation.
 * @throws Error without SMTP
 */
export async function sendPasswordReset(
  deps: AccountMailDeps,
  user: User,
  by: { actor: string; address?: string },
): Promise<void> {
  const { homeOrgId: orgId, id, email } = user;
  await deps.database.transaction((tx) =>
    sendLinkMail(tx, deps, {
      orgId,
      type: "ResetPassword",
      userId: id,
      data: { email },
      recipient: email,
      locale: user.locale ?? NO_LANGUAGE,
      addressOf: linkAddress(deps.baseUrl, "ResetPassword"),
      isVerified: user.emailVerified,
      isDecoy: false,
      audit: { ...by, orgId, action: "password-reset.requested", target: id },
    }),
  );
}

/**
 * Sets an address that an administrator vouches for: no verification, but a notice to the old address, whose links are
 * voided.
 * @param user of the home organisation, as the administrator saw it
 * @throws InvalidUser; `email-taken` also when the address has changed since
 */
export async function setVerifiedEmail(
  deps: NoticeDeps & CoreDeps,
  user: User,
  change: { newEmail: string; actor: string; address?: string },
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
