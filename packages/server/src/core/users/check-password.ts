/**
 * Verifies a password, for every sign-in: unknown addresses and wrong passwords get the same response in the same
 * time, and attempts are counted before they are verified.
 */
import type { Activity } from "../activity/activity.ts";
import { recordOnce, recordUnauthenticatedEvent } from "../audit/unauthenticated-events.ts";
import type { CoreDeps } from "../core-deps.ts";
import { type PasswordHasher, PasswordQueueFull } from "../passwords/password-hasher.ts";
import { countAttempt, networkPrefix, RateLimited, type RateLimits } from "../rate-limits/rate-limits.ts";
import { setPasswordHash } from "./account.store.ts";
import { emailKey, type User } from "./user.ts";
import { findSignInAccount, type SignInAccount } from "./users.store.ts";

export interface PasswordCheckDeps extends CoreDeps {
  readonly passwords: PasswordHasher;
  readonly rateLimits: RateLimits;
  readonly activity: Pick<Activity, "count">;
}

export interface PasswordInput {
  readonly orgId: string;
  readonly email: string;
  readonly password: string;
  readonly address: string;
}

/** The time is compared again when the session starts, so that a concurrent password change prevents it. */
export type RightPassword = Pick<SignInAccount, "user" | "passwordChangedAt">;

/** Longer input is rejected without hashing. */
export const MAX_PASSWORD_INPUT = 1_024;

/** @throws RateLimited, PasswordQueueFull */
export async function checkPassword(
  deps: PasswordCheckDeps,
  { orgId, email, password, address }: PasswordInput,
): Promise<RightPassword | "invalid-credentials" | "disabled"> {
  const key = emailKey(email);
  const network = networkPrefix(address);
  const attempt = await countAttempt(deps, orgId, [
    // The network first: once it is limited, invented email addresses leave no rows.
    { limit: deps.rateLimits["password-address"], subject: network },
    { limit: deps.rateLimits["password-account"], subject: `${key}|${network}` },
  ]).catch(async (error: unknown) => {
    if (error instanceof RateLimited) await recordLimited(deps, { orgId, key, address, network }, error);
    throw error;
  });
  const found = await findSignInAccount(deps.database.query, orgId, key);
  const stored = password.length <= MAX_PASSWORD_INPUT ? (found?.passwordHash ?? undefined) : undefined;
  let matches: boolean;
  try {
    matches = await deps.passwords.verify(stored, password.slice(0, MAX_PASSWORD_INPUT), orgId);
  } catch (error) {
    // Not verified, so it doesn't count as an attempt.
    await attempt.giveBack();
    throw error;
  }
  if (!found || !stored || !matches) {
    await recordFailure(deps, orgId, address, found?.user, "wrong password");
    return "invalid-credentials";
  }
  await attempt.giveBack();
  if (found.user.disabledAt !== null) {
    await recordFailure(deps, orgId, address, found.user, "account disabled");
    return "disabled";
  }
  await renewHash(deps, found.user, stored, password);
  return found;
}

/** Upgrades a hash with outdated parameters. */
async function renewHash(
  deps: PasswordCheckDeps,
  user: User,
  stored: string,
  password: string,
): Promise<void> {
  if (!deps.passwords.needsRehash(stored)) return;
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
  orgId: string,
  address: string,
  user: User | undefined,
  reason: string,
): Promise<void> {
  deps.activity.count(orgId, "failed-sign-ins");
  await recordUnauthenticatedEvent(deps, {
    orgId,
    actor: "anonymous",
    action: "sign-in.failed",
    address,
    details: { reason: user ? reason : "unknown account" },
    ...(user ? { target: user.id } : {}),
  });
}

/** Recorded once per window. */
function recordLimited(
  deps: PasswordCheckDeps,
  { orgId, key, address, network }: { orgId: string; key: string; address: string; network: string },
  { limit: { name, windowSeconds } }: RateLimited,
): Promise<void> {
  const isAccountLimit = name === "password-account";
  const subject = `${name}|${network}|${isAccountLimit ? key : ""}`;
  return recordOnce(deps, { orgId, subject, everyMs: windowSeconds * 1000 }, async () => {
    const found = isAccountLimit ? await findSignInAccount(deps.database.query, orgId, key) : undefined;
    const target = found ? { target: found.user.id } : {};
    return { actor: "anonymous", action: "sign-in.limited", address, details: { limit: name }, ...target };
  });
}
