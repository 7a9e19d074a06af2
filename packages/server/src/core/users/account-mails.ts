/** Mails that an operator or an administrator has sent to somebody: an invitation, or the confirmation of a new address. */
import type { Database } from "../../db/open.ts";
import { actionAddress, type LinkMailDeps, sendLinkMail } from "../actions/link-mail.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { findUserByEmail, insertUser } from "./store.ts";
import { emailKey, isEmail, isPersonName, type Role, type User } from "./user.ts";
import { InvalidUser, newPermId } from "./users.ts";

export interface AccountMailDeps extends LinkMailDeps {
  readonly database: Database;
  readonly baseUrl: string;
}

export interface Invitation {
  readonly organisation: Organisation;
  readonly email: string;
  readonly firstname: string;
  readonly surname: string;
  readonly role: Role;
  readonly actor: string;
}

/**
 * An account without a password, and a link to choose one: nobody signs in before. Invited again, the newest link works.
 * @returns the PermId. @throws InvalidUser when there is a user with a password already; Error when mail is not set up
 */
export async function inviteUser(deps: AccountMailDeps, invitation: Invitation): Promise<string> {
  const { organisation, firstname, surname, role, actor } = invitation;
  const email = invitation.email.trim();
  if (!isEmail(email)) throw new InvalidUser("invalid-email", "the email address is not valid");
  if (![firstname, surname].every(isPersonName))
    throw new InvalidUser("invalid-name", "a name has at most 100 plain characters");
  const orgId = organisation.id;
  const key = emailKey(email);
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const id = newPermId();
    const account = { orgId, id, email, emailKey: key, emailVerifiedAt: null, passwordHash: null, now };
    const isNew = await insertUser(tx, { ...account, firstname, surname, phone: null, role });
    const found = isNew ? undefined : await findUserByEmail(tx, orgId, key);
    if (!isNew && (found === undefined || found.passwordHash !== null || found.user.disabledAt !== null))
      throw new InvalidUser("email-taken", "the organisation has a user of this address already");
    const userId = found?.user.id ?? id;
    const recipient = found?.user.email ?? email;
    await sendLinkMail(tx, deps, {
      orgId,
      type: "AcceptInvitation",
      userId,
      data: { email: recipient },
      recipient,
      locale: found?.user.locale ?? "en",
      addressOf: actionAddress(deps.baseUrl, "AcceptInvitation"),
      isDecoy: false,
      audit: { orgId, actor, action: "user.invited", target: userId },
    });
    return userId;
  });
}

/**
 * A link to the new address: the old one stays until it is used.
 * @param user of the organisation that owns the account. @throws InvalidUser; Error when mail is not set up
 */
export async function requestNewEmail(
  deps: AccountMailDeps,
  user: User,
  { newEmail, actor }: { newEmail: string; actor: string },
): Promise<void> {
  const to = newEmail.trim();
  const { homeOrgId: orgId, id } = user;
  if (!isEmail(to)) throw new InvalidUser("invalid-email", "the email address is not valid");
  await deps.database.transaction(async (tx) => {
    const other = await findUserByEmail(tx, orgId, emailKey(to));
    if (other && other.user.id !== id)
      throw new InvalidUser("email-taken", "the organisation has a user of this address already");
    await sendLinkMail(tx, deps, {
      orgId,
      type: "ChangeEmail",
      userId: id,
      data: { email: user.email, newEmail: to },
      recipient: to,
      locale: user.locale ?? "en",
      addressOf: actionAddress(deps.baseUrl, "ChangeEmail"),
      isDecoy: false,
      audit: { orgId, actor, action: "email-change.requested", target: id },
    });
  });
}
