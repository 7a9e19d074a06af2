/** Invitations by email: an account without a password, which can't sign in, and a link to set one. */
import type { Db } from "../../../db/open.ts";
import { voidActions } from "../../actions/actions.store.ts";
import { createAction, sendLinkMail } from "../../actions/actions.ts";
import { linkAddress } from "../../actions/link-address.ts";
import { type Act, type AuditEvent, recordAuditEvent } from "../../audit/audit.store.ts";
import { findConnection } from "../../connections/connections.store.ts";
import type { CoreDeps } from "../../core-deps.ts";
import { lockIfWithoutPassword } from "../account.store.ts";
import type { AccountMailDeps } from "../account-mails.ts";
import { deletePendingMails } from "../leaving/leaving.store.ts";
import { emailKey, type Role, type User } from "../user.ts";
import { findUser, findUserByEmail, insertUser } from "../users.store.ts";
import { InvalidUser, type NewUser, newPermId, requireEmail, requireNames, roleDetails } from "../users.ts";
import { endInvitation, findInvitationOfUser, putInvitation } from "./invitation-records.store.ts";
import { findInvitationMail, findOpenInvitation, invitationSteps } from "./invitations.store.ts";

interface Inviter extends Omit<Act, "orgId"> {
  /** How long the link works; default: as every invitation's. */
  readonly lifetimeMs?: number;
  /** Default: true. */
  readonly sendMail?: boolean;
  /** The provider where the user accepts and signs in from then on; default: that of the open invitation. */
  readonly connectionId?: string | undefined;
}

/** The locale is the language of the email and of the user. */
export interface Invitation extends Omit<NewUser, "password" | "phone" | "emailVerified"> {
  /** Whether an already invited address is rejected; default: it gets another link. */
  readonly isNew?: boolean;
  readonly lifetimeMs?: number;
  /** Default: true. */
  readonly sendMail?: boolean;
  readonly connectionId?: string | undefined;
}

/**
 * Invites a user; only the newest link works.
 * @returns the PermId.
 * @throws InvalidUser when there is a user with a password; Error without SMTP
 */
export async function inviteUser(deps: AccountMailDeps, invitation: Invitation): Promise<string> {
  return (await invite(deps, invitation)).id;
}

/** The PermId, and the link when no mail was asked for: it is nowhere else. */
export interface Invited {
  readonly id: string;
  readonly link?: string;
}

/** As `inviteUser`. @param invitation.sendMail false: the caller hands the link over */
export async function invite(deps: AccountMailDeps, invitation: Invitation): Promise<Invited> {
  const { organisation, firstname, surname, role, locale = null } = invitation;
  const email = requireEmail(invitation.email);
  requireNames(invitation);
  const orgId = organisation.id;
  const key = emailKey(email);
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    const id = newPermId();
    const account = { orgId, id, email, emailKey: key, emailVerifiedAt: null, passwordHash: null, now };
    const person = { firstname, surname, phone: null, role, locale };
    if (!(await insertUser(tx, { ...account, ...person }))) return inviteKnown(tx, deps, invitation, key);
    const link = await sendInvitation(tx, deps, { orgId, id, email, locale }, invitation, role);
    return { id, ...link };
  });
}

async function inviteKnown(
  tx: Db,
  deps: AccountMailDeps,
  invitation: Invitation,
  key: string,
): Promise<Invited> {
  const orgId = invitation.organisation.id;
  const found = await findUserByEmail(tx, orgId, key);
  const isOpen = found !== undefined && found.passwordHash === null && found.user.disabledAt === null;
  if (!isOpen || invitation.isNew) throw new InvalidUser("email-taken");
  const link = await sendInvitation(tx, deps, found.user, invitation);
  return { id: found.user.id, ...link };
}

/** Rolls the invitation back. */
class NobodyToInvite extends Error {}

/**
 * Sends another link, which replaces the unused one.
 * @returns false when the user has a password, is disabled, or has another home organisation
 */
export function resendInvitation(deps: AccountMailDeps, user: User, act: Inviter): Promise<boolean> {
  if (user.homeOrgId !== user.orgId) return Promise.resolve(false);
  const inviting = deps.database.transaction(async (tx) => {
    // The link is locked before the account, as when a link is redeemed, to prevent deadlocks.
    await sendInvitation(tx, deps, user, act);
    if (!(await lockIfWithoutPassword(tx, user))) throw new NobodyToInvite();
    return true;
  });
  return inviting.catch((error: unknown) => {
    if (error instanceof NobodyToInvite) return false;
    throw error;
  });
}

/**
 * Voids the link and deletes unsent emails. The account stays, and nobody can sign in to it.
 * @param act.evenExpired one whose link has ended is withdrawn too
 * @returns false when there is no open invitation
 */
export function withdrawInvitation(
  deps: CoreDeps,
  user: User,
  { actor, address, evenExpired = false }: Inviter & { readonly evenExpired?: boolean },
): Promise<boolean> {
  const { orgId, id, email } = user;
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const open = await findOpenInvitation(tx, { orgId, userId: id });
    if (!evenExpired && (open?.expiresAt ?? 0) <= now) return false;
    await voidActions(tx, { orgId, userId: id, type: "AcceptInvitation", now });
    await deletePendingMails(tx, { orgId, recipient: email, template: "AcceptInvitation" });
    await endInvitation(tx, { orgId, userId: id, as: "withdrawn_at", now });
    const event = { orgId, at: now, actor, action: "invitation.withdrawn", target: id, address } as const;
    await recordAuditEvent(tx, event);
    return true;
  });
}

/** Undefined for a program or an operator, and for an address that nobody has verified. */
async function inviterAddress(tx: Db, orgId: string, actor: string): Promise<string | undefined> {
  const [, id] = /^user:(.+)$/.exec(actor) ?? [];
  const user = id === undefined ? undefined : await findUser(tx, orgId, id);
  return user?.emailVerified ? user.email : undefined;
}

async function sendInvitation(
  tx: Db,
  deps: AccountMailDeps,
  { orgId, id, email, locale }: Pick<User, "orgId" | "id" | "email" | "locale">,
  { actor, address, lifetimeMs, sendMail = true, ...wanted }: Inviter,
  role: Role = "Standard",
): Promise<{ readonly link?: string }> {
  const now = deps.clock();
  const event = { orgId, actor, action: "user.invited", target: id, address } as const;
  const audit: Omit<AuditEvent, "at"> = { ...event, ...roleDetails(role) };
  const connectionId = await invitedConnection(tx, { orgId, userId: id }, wanted.connectionId);
  const data = { email, ...(connectionId === undefined ? {} : { connectionId }) };
  const action = { orgId, type: "AcceptInvitation", userId: id, data, lifetimeMs } as const;
  const addressOf = linkAddress(deps.baseUrl, "AcceptInvitation");
  if (!sendMail) {
    const made = await createAction(tx, deps, action);
    await putInvitation(tx, { orgId, userId: id, connectionId, expiresAt: made.expiresAt, now });
    await recordAuditEvent(tx, { ...audit, at: now });
    return { link: addressOf(made.id) };
  }
  const expiresAt = await sendLinkMail(tx, deps, {
    ...action,
    recipient: email,
    locale: locale ?? "en",
    addressOf,
    inviter: await inviterAddress(tx, orgId, actor),
    isDecoy: false,
    audit,
  });
  await putInvitation(tx, { orgId, userId: id, connectionId, expiresAt, now });
  return {};
}

/** A provider that is gone accepts nobody: then the link asks for a password. */
async function invitedConnection(
  tx: Db,
  of: { readonly orgId: string; readonly userId: string },
  wanted: string | undefined,
): Promise<string | undefined> {
  if (wanted !== undefined) return wanted;
  const last = await findInvitationOfUser(tx, of);
  const id = last?.acceptedAt === null && last.withdrawnAt === null ? last.connectionId : null;
  return id !== null && (await findConnection(tx, { orgId: of.orgId, id })) ? id : undefined;
}

/** The status of an invitation. Times in milliseconds. */
export type InvitationStatus =
  | {
      readonly kind: "open";
      readonly until: number;
      readonly mail: "waiting" | "sent" | "failed";
      readonly at: number;
    }
  | { readonly kind: "run-out" | "withdrawn" | "accepted"; readonly at: number };

/** @returns undefined for a user who was never invited */
export async function invitationStatus(
  db: Db,
  { orgId, id: userId, email }: Pick<User, "orgId" | "id" | "email">,
  now: number,
): Promise<InvitationStatus | undefined> {
  const last = await invitationSteps(db, { orgId, userId }).executeTakeFirst();
  if (!last) return undefined;
  if (last.action === "invitation.accepted") return { kind: "accepted", at: last.at };
  const open = await findOpenInvitation(db, { orgId, userId });
  if (open && open.expiresAt > now) {
    const mail = (await findInvitationMail(db, { orgId, recipient: email })) ?? "sent";
    return { kind: "open", until: open.expiresAt, mail, at: open.createdAt };
  }
  return { kind: last.action === "invitation.withdrawn" ? "withdrawn" : "run-out", at: last.at };
}
