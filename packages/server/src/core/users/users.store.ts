import type { Selectable } from "kysely";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { MembershipTable, UserAccountTable } from "../../db/tables/users.ts";
import { updateSearchKey } from "./members/members.store.ts";
import type { Attributes, Role, User } from "./user.ts";

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
  /** A language tag; default: the browser's. */
  readonly locale?: string | null;
  readonly now: number;
}

/** @returns false when the email address is taken */
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
      locale: user.locale ?? null,
      password_hash: user.passwordHash,
      password_changed_at: user.passwordHash === null ? null : user.now,
      created_at: user.now,
      updated_at: user.now,
      disabled_at: null,
      attributes: null,
    })
    .onConflict((conflict) => conflict.columns(["org_id", "email_key"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!inserted) return false;
  const { orgId, id: userId, role, now } = user;
  return insertMembership(db, { orgId, userId, homeOrgId: orgId, role, now });
}

export interface NewMembership {
  readonly orgId: string;
  readonly userId: string;
  /** The home organisation. */
  readonly homeOrgId: string;
  readonly role: Role;
  readonly now: number;
}

/** @returns false when the user is already a member */
export async function insertMembership(db: Db, membership: NewMembership): Promise<boolean> {
  const { orgId, userId, homeOrgId, role, now } = membership;
  const row = { org_id: orgId, user_id: userId, home_org_id: homeOrgId, role, created_at: now };
  const result = await db
    .insertInto("membership")
    .values({ ...row, attributes: null, groups: null })
    .onConflict((conflict) => conflict.columns(["org_id", "user_id"]).doNothing())
    .executeTakeFirst();
  if ((result.numInsertedOrUpdatedRows ?? 0n) === 0n) return false;
  await updateSearchKey(db, { homeOrgId, id: userId });
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
    .innerJoin("organisation as home", "home.id", "membership.home_org_id")
    .selectAll("user_account")
    .select(["membership.role", "membership.groups", "membership.attributes as membershipAttributes"])
    // Disabling the home organisation disables its accounts everywhere.
    .select((eb) => eb.fn.coalesce("user_account.disabled_at", "home.disabled_at").as("disabled_at"))
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
    // An account of the organisation itself, by its unique index.
    .where("user_account.org_id", "=", value("orgId"))
    .where("user_account.email_key", "=", value("emailKey")),
);

/** A user by email address, with what the sign-in needs; without guests. */
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

const selectRoaming = prepared((db, value: Parameter<{ orgId: string; emailKey: string }>) =>
  members(db, value("orgId"))
    // As in the partial index of guests, which are few.
    .whereRef("membership.home_org_id", "<>", "membership.org_id")
    .where("user_account.email_key", "=", value("emailKey"))
    .orderBy("membership.created_at")
    .orderBy("membership.user_id")
    .limit(1),
);

/**
 * The account that signs in with an email address: a user of the organisation, else the guest who joined first. Both
 * are always queried, so that timing reveals nothing.
 */
export async function findSignInAccount(
  db: Db,
  orgId: string,
  emailKey: string,
): Promise<{ user: User; passwordHash: string | null; passwordChangedAt: number | null } | undefined> {
  const own = await findUserByEmail(db, orgId, emailKey);
  const [row] = await selectRoaming(db, { orgId, emailKey });
  if (own || !row) return own;
  const { password_hash: passwordHash, password_changed_at: passwordChangedAt } = row;
  return { user: fromRow(orgId, row), passwordHash, passwordChangedAt };
}

/** By PermId. */
export async function listUsers(
  db: Db,
  orgId: string,
  page: { after?: string; limit: number },
): Promise<User[]> {
  let query = members(db, orgId).orderBy("membership.user_id").limit(page.limit);
  if (page.after) query = query.where("membership.user_id", ">", page.after);
  return (await query.execute()).map((row) => fromRow(orgId, row));
}

/** All organisations of an account, its home organisation included. */
export async function organisationsOfUser(db: Db, homeOrgId: string, id: string): Promise<string[]> {
  const rows = await db
    .selectFrom("membership")
    .select("org_id")
    .where((eb) => eb.and({ home_org_id: homeOrgId, user_id: id }))
    .orderBy("org_id")
    .execute();
  return rows.map(({ org_id }) => org_id);
}

/**
 * Of accounts of the home organisation.
 * @returns false when there is no such user, or the status is already the wanted one
 */
export async function setUserDisabled(
  db: Db,
  key: { orgId: string; id: string },
  disabledAt: number | null,
  now: number,
): Promise<boolean> {
  const result = await db
    .updateTable("user_account")
    .set({ disabled_at: disabledAt, updated_at: now })
    .where((eb) => eb.and({ org_id: key.orgId, id: key.id }))
    .where("disabled_at", disabledAt === null ? "is not" : "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Marks the email address as verified, unless it has changed. */
export async function setEmailVerified(
  db: Db,
  key: { orgId: string; id: string; email: string },
  now: number,
): Promise<boolean> {
  const result = await db
    .updateTable("user_account")
    .set({ email_verified_at: now, updated_at: now })
    .where((eb) => eb.and({ org_id: key.orgId, id: key.id, email: key.email }))
    .where("email_verified_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export interface MemberRecord {
  /** Of the account; only the home organisation writes them. */
  readonly attributes?: Attributes;
  readonly membership?: { readonly groups: readonly string[]; readonly attributes: Attributes };
}

/** Replaces the given parts. @returns false when there is no such member */
export async function setMemberRecord(
  db: Db,
  key: { orgId: string; id: string },
  record: MemberRecord,
): Promise<boolean> {
  const { attributes, membership } = record;
  if (attributes !== undefined) {
    const result = await db
      .updateTable("user_account")
      .set({ attributes: JSON.stringify(attributes) })
      .where((eb) => eb.and({ org_id: key.orgId, id: key.id }))
      .executeTakeFirst();
    if (result.numUpdatedRows === 0n) return false;
  }
  if (membership === undefined) return true;
  const result = await db
    .updateTable("membership")
    .set({ groups: JSON.stringify(membership.groups), attributes: JSON.stringify(membership.attributes) })
    .where((eb) => eb.and({ org_id: key.orgId, user_id: key.id }))
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * @param replaces replaces only this hash, or with null only an absent one: a rehash must not undo a concurrent
 * change, nor an invitation replace a password
 * @returns false when nothing was changed
 */
export async function setPasswordHash(
  db: Db,
  key: { orgId: string; id: string },
  change: { hash: string; now: number; replaces?: string | null },
): Promise<boolean> {
  let query = db
    .updateTable("user_account")
    .set(
      typeof change.replaces !== "string"
        ? { password_hash: change.hash, password_changed_at: change.now, updated_at: change.now }
        : { password_hash: change.hash },
    )
    .where((eb) => eb.and({ org_id: key.orgId, id: key.id }));
  if (change.replaces === null) query = query.where("password_hash", "is", null);
  else if (change.replaces !== undefined) query = query.where("password_hash", "=", change.replaces);
  const result = await query.executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Locks the account until the end of the transaction, so that dependent changes run one after the other, on every node. */
export async function lockUserAccount(
  tx: Db,
  user: Pick<User, "homeOrgId" | "id">,
  now: number,
): Promise<void> {
  await tx
    .updateTable("user_account")
    .set({ updated_at: now })
    .where((eb) => eb.and({ org_id: user.homeOrgId, id: user.id }))
    .execute();
}

/**
 * Locks the account if it is enabled and its password is still the one that was verified. A concurrent password
 * change is either seen here, or waits and then ends the session.
 */
export async function lockIfPasswordUnchanged(
  tx: Db,
  user: Pick<User, "homeOrgId" | "id">,
  passwordChangedAt: number | null,
): Promise<boolean> {
  const held = await enabledAccount(tx, user)
    .where("password_changed_at", passwordChangedAt === null ? "is" : "=", passwordChangedAt)
    .executeTakeFirst();
  return held.numUpdatedRows > 0n;
}

/** The same for a sign-in without a password: locks the account if it is enabled. */
export async function lockIfEnabled(tx: Db, user: Pick<User, "homeOrgId" | "id">): Promise<boolean> {
  return (await enabledAccount(tx, user).executeTakeFirst()).numUpdatedRows > 0n;
}

const enabledAccount = (tx: Db, { homeOrgId, id }: Pick<User, "homeOrgId" | "id">) =>
  tx
    .updateTable("user_account")
    .set((eb) => ({ updated_at: eb.ref("updated_at") }))
    .where((eb) => eb.and({ org_id: homeOrgId, id }))
    .where("disabled_at", "is", null);

/** When the user became a member of the organisation, milliseconds. */
export async function findMemberSince(
  db: Db,
  user: Pick<User, "orgId" | "id" | "createdAt">,
): Promise<number> {
  const row = await db
    .selectFrom("membership")
    .select("created_at")
    .where((eb) => eb.and({ org_id: user.orgId, user_id: user.id }))
    .executeTakeFirst();
  return row?.created_at ?? user.createdAt;
}

/** Milliseconds; null for an account without a password. */
export async function findPasswordChangedAt(
  db: Db,
  user: Pick<User, "homeOrgId" | "id">,
): Promise<number | null> {
  const row = await db
    .selectFrom("user_account")
    .select("password_changed_at")
    .where((eb) => eb.and({ org_id: user.homeOrgId, id: user.id }))
    .executeTakeFirst();
  return row?.password_changed_at ?? null;
}

type MemberRow = Selectable<UserAccountTable> &
  Pick<MembershipTable, "role" | "groups"> & { readonly membershipAttributes: string | null };

function fromRow(orgId: string, row: MemberRow): User {
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
    attributes: readAttributes(row.attributes),
    membership: {
      groups: row.groups === null ? [] : (JSON.parse(row.groups) as string[]),
      attributes: readAttributes(row.membershipAttributes),
    },
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
  };
}

const readAttributes = (text: string | null): Attributes =>
  text === null ? {} : (JSON.parse(text) as Attributes);
