/** Changes a user's own password: verifies the current one, ends all other sessions, and continues this one. */
import type { NoticeDeps, NoticeOrigin } from "../mail/notices.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { type PasswordFault, passwordFault } from "../passwords/password-policy.ts";
import { directSource } from "../rate-limits/guess-source.ts";
import type { SignedIn } from "../sessions/session.ts";
import { type StartedSession, startSession } from "../sessions/sessions.ts";
import { findPasswordChangedAt } from "./account.store.ts";
import { checkPassword, type PasswordCheckDeps } from "./check-password.ts";
import { replacePassword } from "./users.ts";

export interface PasswordChange {
  readonly organisation: Organisation;
  /** Recently authenticated, with the second factor if there is one: the caller has checked. */
  readonly signedIn: SignedIn;
  /** Ignored for an account without a password. */
  readonly present: string;
  readonly password: string;
  readonly origin: Required<NoticeOrigin>;
}

/** The password was changed concurrently: the one that was entered is no longer current. */
class PasswordChangedConcurrently extends Error {}

export type PasswordRefusal = "wrong-password" | "same-password" | PasswordFault;

/** @returns the new session of this browser, or why nothing changed. @throws RateLimited, PasswordQueueFull */
export async function changeOwnPassword(
  deps: PasswordCheckDeps & NoticeDeps,
  change: PasswordChange,
): Promise<StartedSession | PasswordRefusal> {
  const { organisation, signedIn, password, present } = change;
  const { user } = signedIn;
  const changedAt = await verifyCurrentPassword(deps, change);
  if (changedAt === undefined) return "wrong-password";
  if (changedAt !== null && password === present) return "same-password";
  const fault = await passwordFault(password, {
    minLength: organisation.settings.passwordMinLength,
    about: [user.email, user.firstname, user.surname],
  });
  if (fault) return fault;
  const hash = await deps.passwords.hash(password, organisation.id);
  const changing = deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const { id, homeOrgId } = user;
    const isFirst = changedAt === null;
    const act = { actor: `user:${id}`, action: isFirst ? "password.set" : "password.changed" } as const;
    const next = { orgId: homeOrgId, id, hash, origin: change.origin, replacesOf: changedAt, ...act };
    if (!(await replacePassword(tx, deps, next))) throw new PasswordChangedConcurrently();
    // The session ended with all others: this browser gets a new one with the same authentication and age.
    const { amr, acr, authTime, deviceId } = signedIn.session;
    const { address, userAgent } = change.origin;
    const continued = { amr, acr, authTime, deviceId: deviceId ?? undefined };
    const start = { organisation, user, ...continued, address, userAgent, before: undefined };
    return startSession(tx, start, now);
  });
  return changing.catch((error: unknown) => {
    if (error instanceof PasswordChangedConcurrently) return "wrong-password";
    throw error;
  });
}

/** @returns when the entered password was set; null for an account without one; undefined for a wrong one */
async function verifyCurrentPassword(
  deps: PasswordCheckDeps,
  { organisation, signedIn: { user }, present, origin }: PasswordChange,
): Promise<number | null | undefined> {
  if ((await findPasswordChangedAt(deps.database.query, user)) === null) return null;
  const { address } = origin;
  const source = directSource(address);
  const input = { orgId: organisation.id, email: user.email, password: present, source } as const;
  const match = await checkPassword(deps, { ...input, purpose: "confirmation" });
  return typeof match === "object" && match.user.id === user.id ? match.passwordChangedAt : undefined;
}
