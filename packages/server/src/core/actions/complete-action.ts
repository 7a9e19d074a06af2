/**
 * Completes the action of a link. The link is redeemed in the same transaction: of concurrent requests, one wins. The
 * account is checked again inside it, because it may have changed since the link was sent.
 */
import { isUniqueViolation } from "../../db/database-errors.ts";
import type { Db } from "../../db/open.ts";
import type { AuditAction } from "../audit/actions.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import { unlinkAllIdentities } from "../connections/sign-in/unlink-identity.ts";
import { isEnforced } from "../domains/enforced-sign-in.ts";
import { type NoticeDeps, type NoticeOrigin, sendNotice } from "../mail/notices.ts";
import type { RecordDeps } from "../record-changes.ts";
import { type FactorChoice, keepsNoPasskey } from "../second-factors/factors-after-reset.ts";
import { changeEmail, lockUserAccount, setEmailVerified, setPasswordHash } from "../users/account.store.ts";
import { endInvitation } from "../users/invitations/invitation-records.store.ts";
import { emailKey, type User } from "../users/user.ts";
import { findUser, insertMembership, insertUser } from "../users/users.store.ts";
import { newPermId, replacePassword } from "../users/users.ts";
import { type ActionDeps, redeemAction } from "./actions.ts";
import type { UserAction } from "./user-action.ts";

export type CompletionDeps = RecordDeps & ActionDeps & NoticeDeps;

export interface Completion {
  readonly action: UserAction;
  /** From the link. */
  readonly id: string;
  /** For actions that set a password. */
  readonly passwordHash?: string;
  /** An invitation to an organisation that has closed passwords. */
  readonly isWithoutPassword?: boolean;
  /** For VerifyEmail: the link was opened where the account is signed in, by whoever has set its password. */
  readonly isOwnSession?: boolean;
  /** For a password reset; by default no passkey is kept. */
  readonly factorChoice?: FactorChoice;
  readonly origin: NoticeOrigin;
}

/** The account has changed since the link was sent: everything is rolled back. */
class ActionVoid extends Error {}

/** @returns false when the link was redeemed concurrently, or the account has changed */
export async function completeAction(deps: CompletionDeps, completion: Completion): Promise<boolean> {
  const { orgId, type } = completion.action;
  if (type === "SignUp") return false;
  try {
    // Before, so that a crash leaves nothing linked; and after, as until then the sessions of before could link again.
    const isFirstProof = await provesAddress(deps, completion);
    if (isFirstProof) await unlinkUnproven(deps, completion);
    const isDone = await deps.database.transaction(async (tx) => {
      if (!(await redeemAction(tx, deps, { orgId, type, id: completion.id }))) return false;
      if (!(await acts[type](tx, deps, completion))) throw new ActionVoid();
      return true;
    });
    if (isDone && isFirstProof) await unlinkUnproven(deps, completion);
    return isDone;
  } catch (error) {
    // The email address was taken between check and write.
    if (error instanceof ActionVoid || isUniqueViolation(error)) return false;
    throw error;
  }
}

type Act = (tx: Db, deps: CompletionDeps, completion: Completion) => Promise<boolean>;

const verifyEmail: Act = async (tx, deps, completion) => {
  if (completion.action.data.registration) return createAccount(tx, deps, completion);
  const { orgId, userId: id, data } = completion.action;
  const user = await findUser(tx, orgId, id);
  // The mailbox alone has proven the address: whoever set the password before may be somebody else (connections.md §5, "pre-hijack").
  if (user && endsWhatWasBefore(completion, user)) {
    const { origin } = completion;
    const act = { actor: `user:${id}`, action: "password.reset", origin } as const;
    await replacePassword(tx, deps, { orgId, id, hash: null, ...act, factorChoice: keepsNoPasskey });
  }
  await setEmailVerified(tx, { orgId, id, email: data.email }, deps.clock());
  await audit(tx, deps, completion, { action: "email.verified" });
  return true;
};

/** Of an account whose address nobody had proven. */
export const endsWhatWasBefore = (
  { action: { type, data }, isOwnSession = false }: Pick<Completion, "action" | "isOwnSession">,
  { emailVerified }: Pick<User, "emailVerified">,
): boolean =>
  !emailVerified &&
  (type === "ResetPassword" || (type === "VerifyEmail" && !data.registration && !isOwnSession));

/**
 * Creates the account of a registration, now that its email address is verified. An API client that only verifies the address
 * creates it without a password: then the owner sets one by a reset.
 */
const createAccount: Act = async (tx, deps, completion) => {
  const { action, passwordHash = null } = completion;
  const { orgId, data } = action;
  const { registration } = data;
  if (!registration || (await isEnforced(tx, orgId, data.email))) return false;
  const now = deps.clock();
  const id = newPermId();
  const { firstname, surname, phone } = registration;
  const isNew = await insertUser(tx, {
    orgId,
    id,
    firstname,
    surname,
    phone,
    passwordHash,
    email: data.email,
    emailKey: emailKey(data.email),
    emailVerifiedAt: now,
    role: "Standard",
    now,
  });
  if (isNew) await audit(tx, deps, completion, { action: "user.registered", userId: id });
  return isNew;
};

const resetPassword: Act = async (tx, deps, completion) => {
  const { action, passwordHash, origin, factorChoice = keepsNoPasskey } = completion;
  const { orgId, userId: id, data } = action;
  // A domain that is enforced closes recovery, the links too that were sent before.
  if (passwordHash === undefined || (await isEnforced(tx, orgId, data.email))) return false;
  // Opening the link proves control of the address.
  await setEmailVerified(tx, { orgId, id, email: data.email }, deps.clock());
  const act = { actor: `user:${id}`, action: "password.reset", origin } as const;
  return replacePassword(tx, deps, { orgId, id, hash: passwordHash, ...act, factorChoice });
};

/** Whether the link proves an address that nobody had proven, to somebody who has shown nothing else. */
async function provesAddress({ database }: CompletionDeps, completion: Completion): Promise<boolean> {
  const { orgId, userId } = completion.action;
  const user = await findUser(database.query, orgId, userId);
  return user !== undefined && endsWhatWasBefore(completion, user);
}

/**
 * What was linked before the address was proven may be somebody else's (see prove-address.ts). On its own, because links and sessions
 * are locked in another order.
 */
function unlinkUnproven(
  deps: CompletionDeps,
  { action: { orgId, userId }, origin: { address } }: Completion,
): Promise<void> {
  return deps.database.transaction(async (tx) => {
    await lockUserAccount(tx, { homeOrgId: orgId, id: userId }, deps.clock());
    await unlinkAllIdentities(tx, deps, { orgId, actor: `user:${userId}`, address, userId });
  });
}

/** The first password: no session exists yet, and there is nothing to notify about. */
const acceptInvitation: Act = async (tx, deps, completion) => {
  const { action, passwordHash: hash, isWithoutPassword = false } = completion;
  const { orgId, userId: id, data } = action;
  const now = deps.clock();
  // Accepted at its provider (accept-invitation.ts).
  if (data.connectionId !== undefined) return false;
  if (hash === undefined && !isWithoutPassword) return false;
  if (hash !== undefined && !(await setPasswordHash(tx, { orgId, id }, { hash, now, replaces: null })))
    return false;
  await setEmailVerified(tx, { orgId, id, email: data.email }, now);
  await endInvitation(tx, { orgId, userId: id, as: "accepted_at", now });
  await audit(tx, deps, completion, { action: "invitation.accepted" });
  return true;
};

const acceptRoaming: Act = async (tx, deps, completion) => {
  const { orgId, userId, data } = completion.action;
  const { homeOrgId } = data;
  if (homeOrgId === undefined) return false;
  const isNew = await insertMembership(tx, { orgId, userId, homeOrgId, role: "Standard", now: deps.clock() });
  if (!isNew) return false;
  await audit(tx, deps, completion, { action: "roaming.accepted", details: { homeOrgId } });
  return true;
};

const confirmNewEmail: Act = async (tx, deps, completion) => {
  const { action, origin } = completion;
  const { orgId, userId: id, data } = action;
  const before = await findUser(tx, orgId, id);
  if (!before || data.newEmail === undefined) return false;
  const change = { orgId, id, from: data.email, to: data.newEmail, toKey: emailKey(data.newEmail) };
  if (!(await changeEmail(tx, change, deps.clock()))) return false;
  await audit(tx, deps, completion, { action: "email.changed" });
  // To the previous address.
  await sendNotice(tx, deps, before, { template: "EmailChanged" }, origin);
  return true;
};

const acts: Readonly<Record<Exclude<UserAction["type"], "SignUp">, Act>> = {
  VerifyEmail: verifyEmail,
  ResetPassword: resetPassword,
  AcceptInvitation: acceptInvitation,
  AcceptRoaming: acceptRoaming,
  ChangeEmail: confirmNewEmail,
};

function audit(
  tx: Db,
  { clock }: CompletionDeps,
  { action: { orgId, userId }, origin }: Completion,
  event: { action: AuditAction; userId?: string; details?: Readonly<Record<string, string>> },
): Promise<void> {
  const { action, userId: id = userId, details } = event;
  const { address } = origin;
  return recordAuditEvent(tx, {
    orgId,
    at: clock(),
    actor: `user:${id}`,
    action,
    target: id,
    address,
    details,
  });
}
