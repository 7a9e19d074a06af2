/** Creating users, disabling them, setting passwords: what operators and, later, administrators do. */
import { randomUUID } from "node:crypto";
import type { Database, Db } from "../../db/open.ts";
import { voidActions } from "../actions/actions.store.ts";
import { type AuditEvent, recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import { forgetBrowsers } from "../known-browsers/known-browsers.store.ts";
import { type NoticeDeps, type NoticeOrigin, sendNotice } from "../mail/notices.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { PasswordHasher } from "../passwords/password-hasher.ts";
import { refusePassword } from "../passwords/password-policy.ts";
import { revokeRememberedDevices } from "../second-factors/trusted-browsers/trusted-browsers.store.ts";
import { endSessions, type SessionEnd } from "../sessions/end-sessions.ts";
import { requireAnotherAdministrator } from "./leaving/last-administrator.ts";
import { emailKey, isEmail, isPersonName, type Role } from "./user.ts";
import {
  findUser,
  holdPassword,
  insertUser,
  organisationsOfUser,
  setPasswordHash,
  setUserDisabled,
} from "./users.store.ts";

export interface UserDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly passwords: PasswordHasher;
}

export class InvalidUser extends Error {
  readonly code: "invalid-email" | "invalid-name" | "weak-password" | "email-taken";
  constructor(code: InvalidUser["code"], message: string) {
    super(message);
    this.name = "InvalidUser";
    this.code = code;
  }
}

export interface NewUser {
  readonly organisation: Organisation;
  readonly email: string;
  readonly password: string;
  readonly firstname: string;
  readonly surname: string;
  readonly phone?: string;
  readonly role: Role;
  /** True when the address is known to be the user's, e.g. because an operator says so. */
  readonly emailVerified: boolean;
  readonly locale?: string | null;
  readonly actor: string;
  readonly address?: string;
}

/** v4: strangers see the PermId, and it must not tell when somebody joined. */
export const newPermId = (): string => randomUUID();

/** For the audit log: whoever is made an administrator from the start leaves no change of the role. */
export const roleDetails = (role: Role): Pick<AuditEvent, "details"> =>
  role === "Administrator" ? { details: { role } } : {};

/** @returns the PermId. @throws InvalidUser */
export async function createUser(deps: UserDeps, input: NewUser): Promise<string> {
  const email = input.email.trim();
  if (!isEmail(email)) throw new InvalidUser("invalid-email", "the email address is not valid");
  if (![input.firstname, input.surname].every(isPersonName))
    throw new InvalidUser("invalid-name", "a name has at most 100 plain characters");
  await requireGoodPassword(input.organisation, input.password, [email, input.firstname, input.surname]);
  const id = newPermId();
  const now = deps.clock();
  const passwordHash = await deps.passwords.hash(input.password);
  const orgId = input.organisation.id;
  await deps.database.transaction(async (tx) => {
    const inserted = await insertUser(tx, {
      orgId,
      id,
      email,
      emailKey: emailKey(email),
      emailVerifiedAt: input.emailVerified ? now : null,
      firstname: input.firstname,
      surname: input.surname,
      phone: input.phone ?? null,
      passwordHash,
      role: input.role,
      locale: input.locale ?? null,
      now,
    });
    if (!inserted)
      throw new InvalidUser("email-taken", "the organisation has a user of this address already");
    const { actor, address, role } = input;
    const event = { orgId, at: now, actor, action: "user.created", target: id, address } as const;
    await recordAuditEvent(tx, { ...event, ...roleDetails(role) });
  });
  return id;
}

/**
 * Disabling ends the user's sessions, tokens, remembered browsers and open links to a password or an address at once;
 * enabling brings none of them back.
 * @param input.orgId the organisation that owns the account; whatever others it administers, it can shut it out
 * @returns false when there is no such user, and when it was so already. @throws LastAdministrator when it would have none any more
 */
export async function disableUser(
  deps: Pick<UserDeps, "database" | "clock">,
  input: {
    orgId: string;
    id: string;
    disabled: boolean;
    actor: string;
    address?: string;
    /** For operators, who can make another administrator; and who shut out the one whose account is in other hands. */
    mayBeLastAdministrator?: boolean;
  },
): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    if (input.disabled) await voidAccountLinks(tx, { orgId: input.orgId, userId: input.id, now });
    if (!(await setUserDisabled(tx, input, input.disabled ? now : null, now))) return false;
    if (input.disabled) {
      if (!input.mayBeLastAdministrator)
        await requireAnotherAdministrator(tx, { orgId: input.orgId, userId: input.id });
      await endEverywhere(tx, input.orgId, { userId: input.id, now, reason: "user_disabled" });
    }
    await recordAuditEvent(tx, {
      orgId: input.orgId,
      at: now,
      actor: input.actor,
      action: input.disabled ? "user.disabled" : "user.enabled",
      target: input.id,
      address: input.address,
    });
    return true;
  });
}

/**
 * A new password from an operator or administrator.
 * @returns false when there is no such user. @throws InvalidUser
 */
export async function setPassword(
  deps: UserDeps & NoticeDeps,
  input: {
    organisation: Organisation;
    id: string;
    password: string;
    about: readonly string[];
    actor: string;
    /** For the audit log alone: where an administrator is, is not told to the user. */
    address?: string;
  },
): Promise<boolean> {
  await requireGoodPassword(input.organisation, input.password, input.about);
  const hash = await deps.passwords.hash(input.password);
  const orgId = input.organisation.id;
  const { id, actor } = input;
  const from = input.address === undefined ? {} : { address: input.address };
  return deps.database.transaction((tx) =>
    replacePassword(tx, deps, { orgId, id, hash, actor, action: "password.set", ...from }),
  );
}

export interface NewPassword {
  /** The organisation that owns the account. */
  readonly orgId: string;
  readonly id: string;
  readonly hash: string;
  readonly actor: string;
  /** What the audit log says it was. */
  readonly action: "password.set" | "password.reset" | "password.changed";
  readonly origin?: NoticeOrigin;
  /** For the audit log, when it is not the origin's. */
  readonly address?: string;
  /** When the one that was shown was set, null for none: with another one since then nothing is replaced. */
  readonly replacesOf?: number | null;
}

/**
 * A new password ends every session, token and remembered browser of the user, and every open link to set one or to another address: whoever
 * knew the old one is out. The user gets a notice. Second factors stay as they are.
 * @returns false when there is no such user, or the password is another one: the transaction is to be undone
 */
export async function replacePassword(tx: Db, deps: NoticeDeps, change: NewPassword): Promise<boolean> {
  const { orgId, id, hash, actor, action, origin = {} } = change;
  const now = deps.clock();
  // Links before the account, as the use of a link does it: two changes at once wait for each other in one direction.
  await voidAccountLinks(tx, { orgId, userId: id, now });
  const { replacesOf } = change;
  if (replacesOf !== undefined && !(await holdPassword(tx, { homeOrgId: orgId, id }, replacesOf)))
    return false;
  if (!(await setPasswordHash(tx, { orgId, id }, { hash, now }))) return false;
  await endEverywhere(tx, orgId, { userId: id, now, reason: "password_changed" });
  const { address = origin.address } = change;
  await recordAuditEvent(tx, { orgId, at: now, actor, action, target: id, address });
  const user = await findUser(tx, orgId, id);
  if (user) await sendNotice(tx, deps, user, { template: "PasswordChanged" }, origin);
  return true;
}

/**
 * An invitation sets a password too. And whoever asked for another address while they were in gets in by it again: the
 * link to it goes with the password that they knew.
 */
async function voidAccountLinks(
  tx: Db,
  which: { orgId: string; userId: string; now: number },
): Promise<void> {
  for (const type of ["ResetPassword", "AcceptInvitation", "ChangeEmail"] as const)
    await voidActions(tx, { ...which, type });
}

/** Also where the user roams: the account is one, whichever organisation a session is of. */
async function endEverywhere(tx: Db, homeOrgId: string, end: Omit<SessionEnd, "orgId">): Promise<void> {
  for (const orgId of await organisationsOfUser(tx, homeOrgId, end.userId)) {
    await endSessions(tx, { ...end, orgId });
    // By name and not by their age: the clocks of two nodes differ.
    await revokeRememberedDevices(tx, { orgId, userId: end.userId, now: end.now });
    // Whichever browser signs in next is told of by mail: one of them may have been a stranger's.
    await forgetBrowsers(tx, { orgId, userId: end.userId });
  }
}

async function requireGoodPassword(
  organisation: Organisation,
  password: string,
  about: readonly string[],
): Promise<void> {
  const reason = await refusePassword(password, {
    minLength: organisation.settings.passwordMinLength,
    about,
  });
  if (reason !== undefined) throw new InvalidUser("weak-password", reason);
}
