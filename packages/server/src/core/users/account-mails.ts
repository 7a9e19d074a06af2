/** Mails that an operator or an administrator has sent to somebody: for a new address, or a new password. */
import type { Database } from "../../db/open.ts";
import { actionAddress, type LinkMailDeps, sendLinkMail } from "../actions/link-mail.ts";
import { NO_LANGUAGE } from "../mail/mail.ts";
import { emailKey, isEmail, type User } from "./user.ts";
import { findUserByEmail } from "./users.store.ts";
import { InvalidUser } from "./users.ts";

export interface AccountMailDeps extends LinkMailDeps {
  readonly database: Database;
  readonly baseUrl: string;
}

export interface NewAddress {
  readonly newEmail: string;
  readonly actor: string;
  readonly address?: string;
  /** The language of the page that it was asked for on: for users who have chosen none. */
  readonly locale?: string;
  /** False for the user's own wish: whether somebody else has the address is not told, and nobody gets a mail then. */
  readonly tellsTaken?: boolean;
}

/**
 * A link to the new address: the old one stays until it is used.
 * @param user of the organisation that owns the account. @throws InvalidUser; Error when mail is not set up
 */
export async function requestNewEmail(
  deps: AccountMailDeps,
  user: User,
  { newEmail, actor, address, locale, tellsTaken = true }: NewAddress,
): Promise<void> {
  const to = newEmail.trim();
  const { homeOrgId: orgId, id } = user;
  if (!isEmail(to)) throw new InvalidUser("invalid-email", "the email address is not valid");
  await deps.database.transaction(async (tx) => {
    const other = await findUserByEmail(tx, orgId, emailKey(to));
    const isTaken = other !== undefined && other.user.id !== id;
    if (isTaken && tellsTaken)
      throw new InvalidUser("email-taken", "the organisation has a user of this address already");
    await sendLinkMail(tx, deps, {
      orgId,
      type: "ChangeEmail",
      userId: id,
      data: { email: user.email, newEmail: to },
      recipient: to,
      locale: user.locale ?? locale ?? NO_LANGUAGE,
      addressOf: actionAddress(deps.baseUrl, "ChangeEmail"),
      isDecoy: isTaken,
      isKept: true,
      audit: { orgId, actor, action: "email-change.requested", target: id, address },
    });
  });
}

/**
 * A link to set another password, which the user has not asked for: the present one works until the link is used.
 * @param user of the organisation that owns the account. @throws Error when mail is not set up
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
      addressOf: actionAddress(deps.baseUrl, "ResetPassword"),
      isDecoy: false,
      audit: { ...by, orgId, action: "password-reset.requested", target: id },
    }),
  );
}
