/** Changes accounts, in their home organisation, and locks them. */

import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { updateSearchKey } from "./members/members.store.ts";
import { writeDetails } from "./profile/details.ts";
import type { User } from "./user.ts";

/** By PermId; `orgId` is the home organisation. */
export interface AccountKey {
  readonly orgId: string;
  readonly id: string;
}

export const updateAccount = (db: Db, { orgId, id }: AccountKey) =>
  db.updateTable("user_account").where((eb) => allOf(eb, { org_id: orgId, id }));

const changedClaims = (now: number) => ({ updated_at: now, profile_changed_at: now });

/** @returns false when there is no such user, or the status is already the wanted one */
export const setUserDisabled = (
  db: Db,
  key: AccountKey,
  disabledAt: number | null,
  now: number,
): Promise<boolean> =>
  affectsAny(
    updateAccount(db, key)
      .set({ disabled_at: disabledAt, updated_at: now })
      .where("disabled_at", disabledAt === null ? "is not" : "is", null),
  );

/** Marks the email address as verified, unless it has changed. */
export const setEmailVerified = (
  db: Db,
  key: AccountKey & { readonly email: string },
  now: number,
): Promise<boolean> =>
  affectsAny(
    updateAccount(db, key)
      .set({ email_verified_at: now, ...changedClaims(now) })
      .where("email", "=", key.email)
      .where("email_verified_at", "is", null),
  );

/** @returns false when there is no such user */
export const setProfile = (
  db: Db,
  key: AccountKey,
  { details, ...person }: Pick<User, "firstname" | "surname" | "phone" | "locale" | "details">,
  now: number,
): Promise<boolean> =>
  changeSearched(
    db,
    key,
    updateAccount(db, key).set({ ...person, profile: writeDetails(details), ...changedClaims(now) }),
  );

/**
 * Sets a verified email address, if the current one is still `from`.
 * @returns false when the account has changed, or the new address is taken
 */
export const changeEmail = (
  db: Db,
  change: AccountKey & { from: string; to: string; toKey: string },
  now: number,
): Promise<boolean> =>
  changeSearched(
    db,
    change,
    updateAccount(db, change)
      .set({ email: change.to, email_key: change.toKey, email_verified_at: now, ...changedClaims(now) })
      .where("email", "=", change.from)
      .where(({ not, exists }) => not(exists(otherAccount(db, change, "email_key", change.toKey)))),
  );

/** @param username as `usernameKey` gives it */
export const isUsernameTaken = (db: Db, orgId: string, username: string): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("user_account")
      .select("id")
      .where((eb) => allOf(eb, { org_id: orgId, username })),
  );

/**
 * Sets the username, or removes it with null; of concurrent users, one gets it.
 * @returns false when there is no such user, or the name is taken
 */
export const setUsername = (
  db: Db,
  key: AccountKey,
  username: string | null,
  now: number,
): Promise<boolean> =>
  changeSearched(
    db,
    key,
    updateAccount(db, key)
      .set({ username, ...changedClaims(now) })
      .where(({ not, exists }) => not(exists(otherAccount(db, key, "username", username)))),
  );

const otherAccount = (
  db: Db,
  { orgId, id }: AccountKey,
  column: "email_key" | "username",
  value: string | null,
) =>
  db
    .selectFrom("user_account as other")
    .select("other.id")
    .where("other.org_id", "=", orgId)
    .where(`other.${column}`, "=", value)
    .where("other.id", "<>", id);

/** @param query changes what searches look in */
async function changeSearched(
  db: Db,
  { orgId, id }: AccountKey,
  query: Parameters<typeof affectsAny>[0],
): Promise<boolean> {
  if (!(await affectsAny(query))) return false;
  await updateSearchKey(db, { homeOrgId: orgId, id });
  return true;
}

/**
 * @param replaces replaces only this hash, or with null only an absent one: a rehash must not undo a concurrent
 * change, nor an invitation replace a password
 * @returns false when nothing was changed
 */
export function setPasswordHash(
  db: Db,
  key: AccountKey,
  { hash, now, replaces }: { hash: string | null; now: number; replaces?: string | null },
): Promise<boolean> {
  const changedAt = hash === null ? null : now;
  const changed = typeof replaces === "string" ? {} : { password_changed_at: changedAt, updated_at: now };
  const query = updateAccount(db, key).set({ password_hash: hash, ...changed });
  if (replaces === undefined) return affectsAny(query);
  return affectsAny(query.where("password_hash", replaces === null ? "is" : "=", replaces));
}

type Account = Pick<User, "homeOrgId" | "id">;

/** Locks the account until the end of the transaction, so that dependent changes run one after the other, on every node. */
export async function lockUserAccount(tx: Db, { homeOrgId, id }: Account, now: number): Promise<void> {
  await updateAccount(tx, { orgId: homeOrgId, id }).set({ updated_at: now }).execute();
}

/**
 * Locks the account if it is enabled and its password is still the one that was verified. A concurrent password
 * change is either seen here, or waits and then ends the session.
 */
export const lockIfPasswordUnchanged = (
  tx: Db,
  user: Account,
  passwordChangedAt: number | null,
): Promise<boolean> =>
  affectsAny(
    enabledAccount(tx, user).where(
      "password_changed_at",
      passwordChangedAt === null ? "is" : "=",
      passwordChangedAt,
    ),
  );

/** When the password was set; null for none. For a sign-in that a new password ends. */
export async function findPasswordChange(db: Db, { homeOrgId, id }: Account): Promise<number | null> {
  const row = await db
    .selectFrom("user_account")
    .select("password_changed_at")
    .where((eb) => allOf(eb, { org_id: homeOrgId, id }))
    .executeTakeFirst();
  return row?.password_changed_at ?? null;
}

/** The same for a sign-in without a password: locks the account if it is enabled. */
export const lockIfEnabled = (tx: Db, user: Account): Promise<boolean> =>
  affectsAny(enabledAccount(tx, user));

/** Locks an enabled account without a password, as an invitation makes it. @returns false when it is not one */
export const lockIfWithoutPassword = (tx: Db, user: Account): Promise<boolean> =>
  affectsAny(enabledAccount(tx, user).where("password_hash", "is", null));

const enabledAccount = (tx: Db, { homeOrgId, id }: Account) =>
  updateAccount(tx, { orgId: homeOrgId, id })
    .set((eb) => ({ updated_at: eb.ref("updated_at") }))
    .where("disabled_at", "is", null);

/** Milliseconds; null for an account without a password. */
export async function findPasswordChangedAt(db: Db, user: Account): Promise<number | null> {
  const row = await db
    .selectFrom("user_account")
    .select("password_changed_at")
    .where((eb) => allOf(eb, { org_id: user.homeOrgId, id: user.id }))
    .executeTakeFirst();
  return row?.password_changed_at ?? null;
}
