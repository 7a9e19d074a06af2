import type { Selectable } from "kysely";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { UserAccountTable } from "../../db/schema.ts";
import type { Role, User } from "./user.ts";

export interface NewUserRow {
  readonly orgId: string;
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly emailVerifiedAt: number | null;
  readonly firstname: string;
  readonly surname: string;
  readonly phone: string | null;
  readonly passwordHash: string | null;
  readonly role: Role;
  readonly now: number;
}

/** @returns false when the organisation has a user of this address already */
export async function insertUser(db: Db, user: NewUserRow): Promise<boolean> {
  const inserted = await db
    .insertInto("user_account")
    .values({
      org_id: user.orgId,
      id: user.id,
      email: user.email,
      email_key: user.emailKey,
      email_verified_at: user.emailVerifiedAt,
      username: null,
      firstname: user.firstname,
      surname: user.surname,
      phone: user.phone,
      locale: null,
      password_hash: user.passwordHash,
      password_changed_at: user.passwordHash === null ? null : user.now,
      created_at: user.now,
      updated_at: user.now,
      disabled_at: null,
    })
    .onConflict((conflict) => conflict.columns(["org_id", "email_key"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!inserted) return false;
  await db
    .insertInto("membership")
    .values({
      org_id: user.orgId,
      user_id: user.id,
      home_org_id: user.orgId,
      role: user.role,
      created_at: user.now,
    })
    .execute();
  return true;
}

const members = (db: Db, orgId: string) =>
  db
    .selectFrom("membership")
    .innerJoin("user_account", (join) =>
      join
        .onRef("user_account.org_id", "=", "membership.home_org_id")
        .onRef("user_account.id", "=", "membership.user_id"),
    )
    .selectAll("user_account")
    .select("membership.role")
    .where("membership.org_id", "=", orgId);

const selectMember = prepared((db, value: Parameter<{ orgId: string; id: string }>) =>
  members(db, value("orgId")).where("membership.user_id", "=", value("id")),
);

/** A member of the organisation by PermId. */
export async function findUser(db: Db, orgId: string, id: string): Promise<User | undefined> {
  const [row] = await selectMember(db, { orgId, id });
  return row && fromRow(orgId, row);
}

const selectByEmail = prepared((db, value: Parameter<{ orgId: string; emailKey: string }>) =>
  members(db, value("orgId"))
    // The organisation's own account: one by its unique index, however many members there are.
    .where("user_account.org_id", "=", value("orgId"))
    .where("user_account.email_key", "=", value("emailKey")),
);

/** A user of the organisation's own by address, with what signing in needs. */
export async function findUserByEmail(
  db: Db,
  orgId: string,
  emailKey: string,
): Promise<{ user: User; passwordHash: string | null; passwordChangedAt: number | null } | undefined> {
  const [row] = await selectByEmail(db, { orgId, emailKey });
  if (!row) return undefined;
  const { password_hash: passwordHash, password_changed_at: passwordChangedAt } = row;
  return { user: fromRow(orgId, row), passwordHash, passwordChangedAt };
}

/** Oldest first by identifier. */
export async function listUsers(
  db: Db,
  orgId: string,
  page: { after?: string; limit: number },
): Promise<User[]> {
  let query = members(db, orgId).orderBy("membership.user_id").limit(page.limit);
  if (page.after) query = query.where("membership.user_id", ">", page.after);
  return (await query.execute()).map((row) => fromRow(orgId, row));
}

/** The home organisation alone changes an account. @returns false when it has no such user */
export async function setUserDisabled(
  db: Db,
  key: { orgId: string; id: string },
  disabledAt: number | null,
  now: number,
): Promise<boolean> {
  const result = await db
    .updateTable("user_account")
    .set({ disabled_at: disabledAt, updated_at: now })
    .where("org_id", "=", key.orgId)
    .where("id", "=", key.id)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * @param replaces when given, only that hash is replaced: a rehash must not undo a change made meanwhile
 * @returns false when nothing was changed
 */
export async function setPasswordHash(
  db: Db,
  key: { orgId: string; id: string },
  change: { hash: string; now: number; replaces?: string },
): Promise<boolean> {
  let query = db
    .updateTable("user_account")
    .set(
      change.replaces === undefined
        ? { password_hash: change.hash, password_changed_at: change.now, updated_at: change.now }
        : { password_hash: change.hash },
    )
    .where("org_id", "=", key.orgId)
    .where("id", "=", key.id);
  if (change.replaces !== undefined) query = query.where("password_hash", "=", change.replaces);
  const result = await query.executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Whether the account is as it was when its password was checked: not disabled, and the password not another one. The
 * write changes nothing and holds the row for the transaction: a new password at the same time is either seen here, or
 * waits and then finds the session to end.
 */
export async function holdAccount(
  tx: Db,
  user: Pick<User, "homeOrgId" | "id">,
  passwordChangedAt: number | null,
): Promise<boolean> {
  const held = await tx
    .updateTable("user_account")
    .set((eb) => ({ updated_at: eb.ref("updated_at") }))
    .where("org_id", "=", user.homeOrgId)
    .where("id", "=", user.id)
    .where("disabled_at", "is", null)
    .where("password_changed_at", passwordChangedAt === null ? "is" : "=", passwordChangedAt)
    .executeTakeFirst();
  return held.numUpdatedRows > 0n;
}

function fromRow(orgId: string, row: Selectable<UserAccountTable> & { role: string }): User {
  return {
    homeOrgId: row.org_id,
    orgId,
    id: row.id,
    email: row.email,
    emailVerified: row.email_verified_at !== null,
    username: row.username,
    firstname: row.firstname,
    surname: row.surname,
    phone: row.phone,
    locale: row.locale,
    role: row.role as Role,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
  };
}
