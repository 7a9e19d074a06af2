/** Creates, disables and enables users, and sets passwords, for operators and administrators. */
import { randomUUID } from "node:crypto";
import type { Db } from "../../db/open.ts";
import { voidActions } from "../actions/actions.store.ts";
import { type Act, type AuditEvent, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { deleteKnownBrowsers } from "../known-browsers/known-browsers.store.ts";
import { type NoticeDeps, type NoticeOrigin, sendNotice } from "../mail/notices.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { PasswordHasher } from "../passwords/password-hasher.ts";
import { passwordFaultMessage } from "../passwords/password-policy.ts";
import { applyFactorChoice, type FactorChoice } from "../second-factors/factors-after-reset.ts";
import { revokeTrustedBrowsers } from "../second-factors/trusted-browsers/trusted-browsers.store.ts";
import { endSessions, type SessionEnd } from "../sessions/end-sessions.ts";
import { lockIfPasswordUnchanged, setPasswordHash, setUserDisabled } from "./account.store.ts";
import { endInvitation } from "./invitations/invitation-records.store.ts";
import { requireAnotherAdministrator } from "./leaving/last-administrator.ts";
import { endUnfinished } from "./leaving/unfinished.ts";
import { setGuestDisabled } from "./members/guests.store.ts";
import { organisationsOfUser } from "./members/members.store.ts";
import { emailKey, isEmail, isPersonName, type Role } from "./user.ts";
import { findUser, insertUser } from "./users.store.ts";

export interface UserDeps extends CoreDeps {
  readonly passwords: PasswordHasher;
}

const messages = {
  "invalid-email": "the email address is not valid",
  "invalid-name": "a name must have at most 100 characters without control characters",
  "weak-password": "the password is too weak",
  "email-taken": "the organisation already has a user with this email address",
};

export class InvalidUser extends Error {
  override readonly name = "InvalidUser";
  readonly code: keyof typeof messages;
  constructor(code: InvalidUser["code"], message: string = messages[code]) {
    super(message);
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
  /** Whether the email address is known to be the user's, e.g. on an operator's word. */
  readonly emailVerified: boolean;
  readonly locale?: string | null;
  readonly actor: string;
  readonly address?: string;
}

/** v4, because a PermId is public and must not reveal the time of registration. */
export const newPermId = (): string => randomUUID();

/** For the audit log: an initial administrator has no event of a role change. */
export const roleDetails = (role: Role): Pick<AuditEvent, "details"> =>
  role === "Administrator" ? { details: { role } } : {};

/** @returns the address without surrounding spaces. @throws InvalidUser */
export function requireEmail(input: string): string {
  const email = input.trim();
  if (!isEmail(email)) throw new InvalidUser("invalid-email");
  return email;
}

/** @throws InvalidUser */
export function requireNames({ firstname, surname }: Pick<NewUser, "firstname" | "surname">): void {
  if (!isPersonName(firstname) || !isPersonName(surname)) throw new InvalidUser("invalid-name");
}

/** @returns the PermId. @throws InvalidUser */
export async function createUser(deps: UserDeps, input: NewUser): Promise<string> {
  const { organisation, firstname, surname, phone = null, role, locale, actor, address } = input;
  const email = requireEmail(input.email);
  requireNames(input);
  await requireStrongPassword(organisation, input.password, [email, firstname, surname]);
  const id = newPermId();
  const now = deps.clock();
  const passwordHash = await deps.passwords.hash(input.password, organisation.id);
  const orgId = organisation.id;
  await deps.database.transaction(async (tx) => {
    const emailVerifiedAt = input.emailVerified ? now : null;
    const account = { orgId, id, email, emailKey: emailKey(email), emailVerifiedAt, passwordHash };
    const person = { firstname, surname, phone, role, locale: locale ?? null };
    if (!(await insertUser(tx, { ...account, ...person, now }))) throw new InvalidUser("email-taken");
    const event = { orgId, at: now, actor, action: "user.created", target: id, address } as const;
    await recordAuditEvent(tx, { ...event, ...roleDetails(role) });
  });
  return id;
}

/**
 * Enables or disables a user. Disabling ends the user's sessions, tokens, trusted browsers and open links
 * immediately; enabling restores none.
 * @param input.orgId the home organisation, whatever other organisations the user administers
 * @returns false when there is no such user, or the status is already the wanted one.
 * @throws LastAdministrator
 */
export async function setUserStatus(
  deps: CoreDeps,
  input: Act & {
    id: string;
    disabled: boolean;
    /** For operators, who can create another administrator, and who lock out compromised accounts. */
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
      await endAllSessions(tx, input.orgId, { userId: input.id, now, reason: "user_disabled" });
    }
    await recordAuditEvent(tx, {
      ...auditFields(input, now),
      action: input.disabled ? "user.disabled" : "user.enabled",
      target: input.id,
    });
    return true;
  });
}

/**
 * Disables or enables a guest in this organisation alone: the account is its home's, and signs in elsewhere as before.
 * @returns false when there is no such guest, or the status is already the wanted one
 * @throws LastAdministrator
 */
export async function setGuestStatus(
  deps: CoreDeps,
  input: Act & { readonly id: string; readonly disabled: boolean },
): Promise<boolean> {
  const now = deps.clock();
  const { orgId, id, disabled } = input;
  return deps.database.transaction(async (tx) => {
    if (!(await setGuestDisabled(tx, { orgId, id }, disabled ? now : null))) return false;
    if (disabled) {
      await requireAnotherAdministrator(tx, { orgId, userId: id });
      await endInOrganisation(tx, { orgId, userId: id, now, reason: "user_disabled" });
    }
    await recordAuditEvent(tx, {
      ...auditFields(input, now),
      action: disabled ? "user.disabled" : "user.enabled",
      target: id,
    });
    return true;
  });
}

/** Sets a password for a user. @returns false when there is no such user. @throws InvalidUser */
export async function setPassword(
  deps: UserDeps & NoticeDeps,
  input: {
    organisation: Organisation;
    id: string;
    password: string;
    about: readonly string[];
    actor: string;
    /** For the audit log only: users don't learn an administrator's address. */
    address?: string;
  },
): Promise<boolean> {
  await requireStrongPassword(input.organisation, input.password, input.about);
  const hash = await deps.passwords.hash(input.password, input.organisation.id);
  const { organisation, id, actor, address } = input;
  const change = { orgId: organisation.id, id, hash, actor, address, action: "password.set" } as const;
  return deps.database.transaction((tx) => replacePassword(tx, deps, change));
}

/** The organisation is the home organisation; the address is for the audit log, where it isn't the origin's. */
export interface NewPassword extends Act {
  readonly id: string;
  /** null: there is none from now on, and nobody is told. */
  readonly hash: string | null;
  readonly action: "password.set" | "password.reset" | "password.changed";
  readonly origin?: NoticeOrigin;
  /** When the verified password was set, null for none; nothing is replaced if it has changed since. */
  readonly replacesOf?: number | null;
  /** For a reset by email: which second factors stay. */
  readonly factorChoice?: FactorChoice;
}

/**
 * Replaces a password. This ends all sessions, tokens and trusted browsers, and voids open links for passwords and
 * email addresses, so that whoever knew the old one is out. The user is notified. Second factors stay, unless it is a reset by
 * email.
 * @returns false when there is no such user, or the password has changed: roll the transaction back
 */
export async function replacePassword(tx: Db, deps: NoticeDeps, change: NewPassword): Promise<boolean> {
  const { orgId, id, hash, actor, action, origin = {}, address = origin.address, replacesOf } = change;
  const now = deps.clock();
  // Links are locked before the account, as when a link is redeemed, to prevent deadlocks.
  await voidAccountLinks(tx, { orgId, userId: id, now });
  if (replacesOf !== undefined && !(await lockIfPasswordUnchanged(tx, { homeOrgId: orgId, id }, replacesOf)))
    return false;
  if (!(await setPasswordHash(tx, { orgId, id }, { hash, now }))) return false;
  await endAllSessions(tx, orgId, { userId: id, now, reason: "password_changed" });
  await recordAuditEvent(tx, { orgId, at: now, actor, action, target: id, address });
  const { factorChoice } = change;
  const account = { orgId, id, actor, address };
  const factors = factorChoice && (await applyFactorChoice(tx, account, factorChoice, now));
  const user = await findUser(tx, orgId, id);
  if (user && hash !== null)
    await sendNotice(tx, deps, user, { template: "PasswordChanged", factors }, origin);
  return true;
}

/**
 * Invitations set passwords too; and a link to another address may have been requested by an intruder. Who has a password by now, or
 * is disabled, is no longer invited.
 */
async function voidAccountLinks(
  tx: Db,
  which: { orgId: string; userId: string; now: number },
): Promise<void> {
  for (const type of ["ResetPassword", "AcceptInvitation", "ChangeEmail"] as const)
    await voidActions(tx, { ...which, type });
  await endInvitation(tx, { ...which, as: "withdrawn_at" });
}

/** In all organisations of the account. */
async function endAllSessions(tx: Db, homeOrgId: string, end: Omit<SessionEnd, "orgId">): Promise<void> {
  for (const orgId of await organisationsOfUser(tx, homeOrgId, end.userId))
    await endInOrganisation(tx, { ...end, orgId });
}

async function endInOrganisation(tx: Db, end: SessionEnd): Promise<void> {
  const { orgId, userId, now, reason } = end;
  await endSessions(tx, end);
  // By user and not by time, because clocks of nodes differ.
  await revokeTrustedBrowsers(tx, { orgId, userId, now });
  // What is under way would otherwise go on when the account is enabled again.
  if (reason === "user_disabled") await endUnfinished(tx, { orgId, userId, now });
  // The next sign-in from any browser is notified: a known one may have been an intruder's.
  await deleteKnownBrowsers(tx, { orgId, userId });
}

async function requireStrongPassword(
  organisation: Organisation,
  password: string,
  about: readonly string[],
): Promise<void> {
  const reason = await passwordFaultMessage(password, {
    minLength: organisation.settings.passwordMinLength,
    about,
  });
  if (reason !== undefined) throw new InvalidUser("weak-password", reason);
}
