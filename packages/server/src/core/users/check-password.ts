/**
 * Verifies a password, for every sign-in: unknown addresses and wrong passwords get the same response in the same
 * time. Only wrong ones count; how many are verified at once is limited by what the counts have left.
 */

import type { Db } from "../../db/open.ts";
import type { Activity } from "../activity/activity.ts";
import { countFailedSignIn } from "../activity/kinds.ts";
import { recordOnce, recordUnauthenticatedEvent } from "../audit/unauthenticated-events.ts";
import { mayBreakGlass } from "../break-glass/break-glass-use.ts";
import { isEnforced } from "../domains/enforced-sign-in.ts";
import { type PasswordHasher, PasswordQueueFull } from "../passwords/password-hasher.ts";
import { type CountedGuess, checkGuess, type GuessDeps } from "../rate-limits/attempts.ts";
import { type GuessSource, sourceSubject } from "../rate-limits/guess-source.ts";
import { RateLimited, type RateLimits } from "../rate-limits/rate-limits.ts";
import { setPasswordHash } from "./account.store.ts";
import { emailKey, type User } from "./user.ts";
import { findSignInAccount, type SignInAccount } from "./users.store.ts";

export interface PasswordCheckDeps extends GuessDeps {
  readonly passwords: PasswordHasher;
  readonly rateLimits: RateLimits;
  readonly activity: Pick<Activity, "count">;
}

export interface PasswordInput {
  readonly orgId: string;
  readonly email: string;
  readonly password: string;
  readonly source: GuessSource;
  /** The application that the user signs in to, for the audit log. */
  readonly applicationId?: string | undefined;
  /**
   * Default: `sign-in`, which a domain that is enforced closes; `confirmation` is by who is signed in already, `linking` by whom
   * the domain's own connection has let in. `closed`: the organisation has no passwords, and a right one is a wrong one.
   */
  readonly purpose?: "sign-in" | "break-glass" | "confirmation" | "linking" | "closed";
}

/** The time is compared again when the session starts, so that a concurrent password change prevents it. */
export type RightPassword = Pick<SignInAccount, "user" | "passwordChangedAt">;

/** Longer input is rejected without hashing. */
export const MAX_PASSWORD_INPUT = 1_024;

/** @throws RateLimited, PasswordQueueFull */
export async function checkPassword(
  deps: PasswordCheckDeps,
  input: PasswordInput,
): Promise<RightPassword | "invalid-credentials" | "disabled"> {
  const { orgId, password } = input;
  const guess = await checkGuess(
    deps,
    orgId,
    countedBy(deps.rateLimits, input),
    () => verify(deps, input),
    ({ isRight }) => isRight,
  ).catch((error: unknown) => explainRefusal(deps, input, error));
  const { account } = guess;
  if (!account || !guess.isRight) {
    await recordFailure(deps, input, account?.user, "wrong password");
    return "invalid-credentials";
  }
  if (account.user.disabledAt !== null) {
    await recordFailure(deps, input, account.user, "account disabled");
    return "disabled";
  }
  if (account.passwordHash !== null) await renewHash(deps, account.user, account.passwordHash, password);
  return account;
}

/** The account with where it comes from: nobody else's success forgets what is counted there. */
function countedBy(limits: RateLimits, { email, source }: PasswordInput): CountedGuess[] {
  const { network, applicationId } = source;
  const account = `${emailKey(email)}|${sourceSubject(source)}`;
  return [
    { limit: limits["password-account"], subject: account, clearedBySuccess: true },
    ...(network === undefined ? [] : [{ limit: limits["password-address"], subject: network }]),
    ...(applicationId === undefined
      ? []
      : [{ limit: limits["password-application"], subject: applicationId }]),
  ];
}

async function verify(
  deps: PasswordCheckDeps,
  { orgId, email, password, purpose = "sign-in" }: PasswordInput,
): Promise<{ account: SignInAccount | undefined; isRight: boolean }> {
  const account = await findSignInAccount(deps.database.query, orgId, emailKey(email));
  const stored = password.length <= MAX_PASSWORD_INPUT ? (account?.passwordHash ?? undefined) : undefined;
  const isRight = await deps.passwords.verify(stored, password.slice(0, MAX_PASSWORD_INPUT), orgId);
  // Looked at for right and wrong passwords alike. A right one that does not count is a wrong one, under every limit.
  const isOpen = await isOpenTo(deps.database.query, purpose, { orgId, email, user: account?.user });
  return { account, isRight: isRight && stored !== undefined && isOpen };
}

async function isOpenTo(
  db: Db,
  purpose: NonNullable<PasswordInput["purpose"]>,
  { orgId, email, user }: { readonly orgId: string; readonly email: string; readonly user: User | undefined },
): Promise<boolean> {
  switch (purpose) {
    case "confirmation":
    case "linking":
      return true;
    case "closed":
      return false;
    case "sign-in":
      return !(await isEnforced(db, orgId, email));
    case "break-glass":
      return user !== undefined && (await mayBreakGlass(db, user));
  }
}

/** @throws the error, or PasswordQueueFull when nothing is exceeded */
async function explainRefusal(deps: PasswordCheckDeps, input: PasswordInput, error: unknown): Promise<never> {
  if (!(error instanceof RateLimited)) throw error;
  if (error.isTemporary) throw new PasswordQueueFull();
  await recordLimited(deps, input, error);
  throw error;
}

/** Upgrades a hash with outdated parameters. */
async function renewHash(
  deps: PasswordCheckDeps,
  user: User,
  stored: string,
  password: string,
): Promise<void> {
  if (!deps.passwords.needsRehash(stored, password)) return;
  try {
    const hash = await deps.passwords.hash(password, user.homeOrgId);
    const owner = { orgId: user.homeOrgId, id: user.id };
    await setPasswordHash(deps.database.query, owner, { hash, now: deps.clock(), replaces: stored });
  } catch (error) {
    // The queue is full: the next sign-in upgrades the hash.
    if (!(error instanceof PasswordQueueFull)) throw error;
  }
}

async function recordFailure(
  deps: PasswordCheckDeps,
  input: PasswordInput,
  user: User | undefined,
  reason: string,
): Promise<void> {
  const { orgId } = input;
  countFailedSignIn(deps.activity.count, orgId, "password");
  await recordUnauthenticatedEvent(deps, {
    orgId,
    actor: "anonymous",
    action: "sign-in.failed",
    ...auditedInput(input),
    details: { reason: user ? reason : "unknown account" },
    typedEmail: input.email,
    ...(user ? { target: user.id } : {}),
  });
}

const auditedInput = ({ source, applicationId = source.applicationId }: PasswordInput) => ({
  address: source.address,
  applicationId,
});

/** Recorded once per window. */
function recordLimited(
  deps: PasswordCheckDeps,
  input: PasswordInput,
  { limit: { name, windowSeconds } }: RateLimited,
): Promise<void> {
  const { orgId, email, source } = input;
  const isAccountLimit = name === "password-account";
  const key = emailKey(email);
  const subject = `${name}|${sourceSubject(source)}|${isAccountLimit ? key : ""}`;
  return recordOnce(deps, { orgId, subject, everyMs: windowSeconds * 1000 }, async () => {
    const found = isAccountLimit ? await findSignInAccount(deps.database.query, orgId, key) : undefined;
    return {
      ...{ actor: "anonymous", action: "sign-in.limited" as const, ...auditedInput(input) },
      details: { limit: name },
      ...(isAccountLimit ? { typedEmail: email } : {}),
      ...(found ? { target: found.user.id } : {}),
    };
  });
}
