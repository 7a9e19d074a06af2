/** A user's own new password: the present one is asked for, everything else is signed out, this browser goes on. */
import type { NoticeDeps, NoticeOrigin } from "../mail/notices.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { type PasswordFault, passwordFault } from "../passwords/password-policy.ts";
import type { SignedIn } from "../sessions/session.ts";
import { type StartedSession, signInWithin } from "../sessions/sessions.ts";
import { checkPassword, type PasswordCheckDeps } from "./check-password.ts";
import { findPasswordChangedAt } from "./users.store.ts";
import { replacePassword } from "./users.ts";

export interface PasswordChange {
  /** It owns the account. */
  readonly organisation: Organisation;
  /** Proven freshly, by the second factor too if there is one: the caller has asked. */
  readonly signedIn: SignedIn;
  /** Not looked at for an account that has none. */
  readonly present: string;
  readonly password: string;
  readonly origin: Required<NoticeOrigin>;
}

/** Set by somebody else while this one was on its way: what was typed is not the present one any more. */
class OtherPassword extends Error {}

export type PasswordRefusal = "wrong-password" | "same-password" | PasswordFault;

/**
 * @returns the new session of this browser, or why nothing was changed.
 * @throws RateLimited, PasswordQueueFull
 */
export async function changeOwnPassword(
  deps: PasswordCheckDeps & NoticeDeps,
  change: PasswordChange,
): Promise<StartedSession | PasswordRefusal> {
  const { organisation, signedIn, password, present } = change;
  const { user } = signedIn;
  const changedAt = await passwordShown(deps, change);
  if (changedAt === undefined) return "wrong-password";
  if (changedAt !== null && password === present) return "same-password";
  const fault = await passwordFault(password, {
    minLength: organisation.settings.passwordMinLength,
    about: [user.email, user.firstname, user.surname],
  });
  if (fault) return fault;
  const hash = await deps.passwords.hash(password);
  const changing = deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const { id, homeOrgId } = user;
    const isFirst = changedAt === null;
    const act = { actor: `user:${id}`, action: isFirst ? "password.set" : "password.changed" } as const;
    const next = { orgId: homeOrgId, id, hash, origin: change.origin, replacesOf: changedAt, ...act };
    if (!(await replacePassword(tx, deps, next))) throw new OtherPassword();
    // The session has ended with all the others: this browser gets another one, of the same proofs and no younger.
    const { amr, acr, authTime } = signedIn.session;
    const { address, userAgent } = change.origin;
    const start = { organisation, user, amr, acr, authTime, address, userAgent, before: undefined };
    return signInWithin(tx, start, now);
  });
  return changing.catch((error: unknown) => {
    if (error instanceof OtherPassword) return "wrong-password";
    throw error;
  });
}

/** @returns when the password that was shown was set, null for an account without one; undefined for a wrong one */
async function passwordShown(
  deps: PasswordCheckDeps,
  { organisation, signedIn: { user }, present, origin }: PasswordChange,
): Promise<number | null | undefined> {
  if ((await findPasswordChangedAt(deps.database.query, user)) === null) return null;
  const { address } = origin;
  const shown = { orgId: organisation.id, email: user.email, password: present, address };
  const right = await checkPassword(deps, shown);
  return typeof right === "object" && right.user.id === user.id ? right.passwordChangedAt : undefined;
}
