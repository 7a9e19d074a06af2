/** Stores accounts and memberships. */
import { type SqlBool, sql } from "kysely";
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRow } from "../../db/records.ts";
import type { MembershipTable } from "../../db/tables/users.ts";
import { updateAccount } from "./account.store.ts";
import {
  type AccountRow,
  accountColumns,
  findHomeAccount,
  type GuestKey,
  type HomeAccount,
  isOfGuest,
  withHomeAccounts,
} from "./members/guests.store.ts";
import { memberships, searchKey, updateSearchKey } from "./members/members.store.ts";
import { readDetails } from "./profile/details.ts";
import type { Attributes, Role, User } from "./user.ts";

export type NewUserRow = Pick<User, "orgId" | "id" | "email" | "firstname" | "surname" | "phone" | "role"> & {
  readonly emailKey: string;
  readonly emailVerifiedAt: number | null;
  readonly passwordHash: string | null;
  /** A language tag; default: the browser's. */
  readonly locale?: string | null;
  /** Default: enabled. */
  readonly disabledAt?: number | null;
  readonly now: number;
};

const accountRow = ({ role: _, now, locale = null, disabledAt = null, ...account }: NewUserRow) => ({
  ...toRow(account),
  locale,
  username: null,
  password_changed_at: account.passwordHash === null ? null : now,
  created_at: now,
  updated_at: now,
  disabled_at: disabledAt,
  attributes: null,
  profile: null,
  profile_changed_at: now,
});

/** @returns false when the email address is taken */
export async function insertUser(db: Db, user: NewUserRow): Promise<boolean> {
  const inserting = db
    .insertInto("user_account")
    .values(accountRow(user))
    .onConflict((conflict) => conflict.columns(["org_id", "email_key"]).doNothing())
    .returning("id");
  const { orgId, id: userId, role, now } = user;
  return (await hasRow(inserting)) && insertMembership(db, { orgId, userId, homeOrgId: orgId, role, now });
}

/** Databases limit the parameters of a statement. */
const MAX_ROWS = 500;

/**
 * Many at once: a statement for each of thousands would hold the database of everybody else for seconds.
 * @returns false when one of the email addresses is taken: roll back
 */
export async function insertUsers(tx: Db, users: readonly NewUserRow[]): Promise<boolean> {
  for (let at = 0; at < users.length; at += MAX_ROWS) {
    const some = users.slice(at, at + MAX_ROWS);
    const inserted = await tx
      .insertInto("user_account")
      .values(some.map(accountRow))
      .onConflict((conflict) => conflict.columns(["org_id", "email_key"]).doNothing())
      .returning("id")
      .execute();
    if (inserted.length < some.length) return false;
    await tx.insertInto("membership").values(some.map(membershipRow)).execute();
  }
  return true;
}

/** Of a new account, in its own organisation. */
const membershipRow = ({ orgId, id, role, now, ...account }: NewUserRow) => ({
  org_id: orgId,
  user_id: id,
  home_org_id: orgId,
  role,
  created_at: now,
  attributes: null,
  groups: null,
  search_key: searchKey({ ...account, username: null }),
});

/** @returns false when the user is already a member, or a guest's account has ended */
export async function insertMembership(
  db: Db,
  { now, ...membership }: Pick<User, "orgId" | "homeOrgId" | "role"> & { userId: string; now: number },
): Promise<boolean> {
  const { orgId, homeOrgId, userId } = membership;
  if (homeOrgId !== orgId && !(await holdAccount(db, { homeOrgId, id: userId }))) return false;
  const inserting = db
    .insertInto("membership")
    .values({ ...toRow(membership), created_at: now, attributes: null, groups: null })
    .onConflict((conflict) => conflict.columns(["org_id", "user_id"]).doNothing())
    .returning("user_id");
  if (!(await hasRow(inserting))) return false;
  await updateSearchKey(db, { homeOrgId, id: userId }, orgId);
  return true;
}

/** Until the end of the transaction nobody deletes it; whoever does, waits, and deletes the membership too (deleteAccount). */
function holdAccount(db: Db, { homeOrgId, id }: GuestKey): Promise<boolean> {
  const account = db
    .selectFrom("user_account")
    .select("id")
    .where((eb) => allOf(eb, { org_id: homeOrgId, id }));
  return hasRow(isPostgres(db) ? account.forKeyShare() : account);
}

const withMemberColumns = <Q extends ReturnType<typeof memberships>>(db: Db, query: Q) =>
  query
    .select(["membership.user_id", "membership.home_org_id"])
    .select(accountColumns.map((name) => `user_account.${name}` as const))
    .select(["membership.role", "membership.attributes as membershipAttributes"])
    .select("membership.disabled_at as membershipDisabledAt")
    .select(groupNames(db).as("groups"))
    // Disabling the home organisation disables its accounts everywhere.
    .select((eb) => eb.fn.coalesce("user_account.disabled_at", "home.disabled_at").as("disabled_at"));

const members = (db: Db, orgId: string) => withMemberColumns(db, memberships(db, orgId));

/** JSON: the names of the groups that the user is a direct member of. */
function groupNames(db: Db) {
  const names = isPostgres(db)
    ? sql`cast(json_agg(g.display_name order by g.name_key, g.id) as text)`
    : sql`json_group_array(g.display_name order by g.name_key, g.id)`;
  return sql<string | null>`(select ${names} from group_user m
    join user_group g on g.org_id = m.org_id and g.id = m.group_id
    where m.org_id = membership.org_id and m.user_id = membership.user_id)`;
}

const selectMember = prepared((db, value: Parameter<{ orgId: string; id: string }>) =>
  members(db, value("orgId")).where("membership.user_id", "=", value("id")),
);

/** A member of the organisation by PermId. */
export async function findUser(db: Db, orgId: string, id: string): Promise<User | undefined> {
  const [row] = await selectMember(db, { orgId, id });
  if (!row) return undefined;
  const member = await readMember(db, orgId, row);
  return member && fromRow(orgId, member);
}

/** The members with these PermIds, in no order. */
export async function findUsers(db: Db, orgId: string, ids: readonly string[]): Promise<User[]> {
  if (ids.length === 0) return [];
  const rows = await members(db, orgId).where("membership.user_id", "in", ids).execute();
  return readUsers(db, orgId, rows);
}

async function readUsers(db: Db, orgId: string, rows: readonly FoundRow[]): Promise<User[]> {
  const found = await withHomeAccounts(db, orgId, rows);
  return found.map(([row, account]) => fromRow(orgId, account ? asGuest(row, account) : (row as MemberRow)));
}

/** Disabled here or at home. */
const asGuest = (row: FoundRow, account: HomeAccount): MemberRow => ({
  ...{ ...row, ...account },
  disabled_at: account.disabled_at ?? row.membershipDisabledAt,
});

/** @returns undefined when the account has ended */
async function readMember(db: Db, orgId: string, row: FoundRow): Promise<MemberRow | undefined> {
  if (row.home_org_id === orgId) return row.id === null ? undefined : (row as MemberRow);
  const account = await findHomeAccount(db, { homeOrgId: row.home_org_id, id: row.user_id });
  return account && asGuest(row, account);
}

const selectByEmail = prepared((db, value: Parameter<{ orgId: string; emailKey: string }>) =>
  members(db, value("orgId"))
    // An account of the organisation itself, by its unique index.
    .where("user_account.org_id", "=", value("orgId"))
    .where("user_account.email_key", "=", value("emailKey")),
);

export interface SignInAccount {
  readonly user: User;
  readonly passwordHash: string | null;
  readonly passwordChangedAt: number | null;
}

/** A user by email address, with what the sign-in needs; without guests. */
export async function findUserByEmail(
  db: Db,
  orgId: string,
  emailKey: string,
): Promise<SignInAccount | undefined> {
  const [row] = await selectByEmail(db, { orgId, emailKey });
  return row && toSignInAccount(orgId, row as MemberRow);
}

const toSignInAccount = (orgId: string, row: MemberRow): SignInAccount => ({
  user: fromRow(orgId, row),
  passwordHash: row.password_hash,
  passwordChangedAt: row.password_changed_at,
});

/** Guests whose search key begins with an email address, oldest first: then their accounts are asked. */
const guestsLike = (db: Db, orgId: string, emailKey: string) =>
  members(db, orgId)
    .where(isOfGuest)
    .where(startsWith(db, emailKey))
    .orderBy("membership.created_at")
    .orderBy("membership.user_id");

/** See `searchKey`. */
const startsWith = (db: Db, emailKey: string) =>
  sql<SqlBool>`${sql.raw(isPostgres(db) ? "strpos" : "instr")}(membership.search_key || ' ', ${emailKey}) = 1`;

const selectGuests = prepared((db, value: Parameter<{ orgId: string; start: string }>) =>
  guestsLike(db, value("orgId"), value("start")).limit(sql.lit(MAX_GUESTS)),
);

/** Of several homes, with one address. */
const MAX_GUESTS = 50;

/**
 * The account that signs in with an email address: a user of the organisation, else the guest who joined first. Both
 * are always queried, an account at a home too, so that timing reveals nothing.
 */
export async function findSignInAccount(
  db: Db,
  orgId: string,
  emailKey: string,
): Promise<SignInAccount | undefined> {
  const own = await findUserByEmail(db, orgId, emailKey);
  const guest = await findGuestByEmail(db, orgId, emailKey);
  return own ?? guest;
}

const NOBODY = "00000000-0000-0000-0000-000000000000";

async function findGuestByEmail(db: Db, orgId: string, emailKey: string): Promise<SignInAccount | undefined> {
  const guests = await selectGuests(db, { orgId, start: `${emailKey} ` });
  if (guests.length === 0) await findHomeAccount(db, { homeOrgId: orgId, id: NOBODY });
  for (const row of guests) {
    const account = await findHomeAccount(db, { homeOrgId: row.home_org_id, id: row.user_id });
    if (account?.email_key === emailKey) return toSignInAccount(orgId, { ...row, ...account });
  }
  return undefined;
}

/** PermIds of the members with an email address: at most one of the organisation itself, and guests. */
export async function findUserIdsByEmail(
  db: Db,
  orgId: string,
  emailKey: string,
  limit: number,
): Promise<string[]> {
  const own = await findUserByEmail(db, orgId, emailKey);
  const guests = await guestsLike(db, orgId, `${emailKey} `).limit(limit).execute();
  const accounts = await withHomeAccounts(db, orgId, guests);
  const ids = accounts
    .filter(([, account]) => account?.email_key === emailKey)
    .map(([{ user_id }]) => user_id);
  return [...(own ? [own.user.id] : []), ...ids];
}

/** By PermId. */
export async function listUsers(
  db: Db,
  orgId: string,
  page: { after?: string; limit: number },
): Promise<User[]> {
  let query = members(db, orgId).orderBy("membership.user_id").limit(page.limit);
  if (page.after) query = query.where("membership.user_id", ">", page.after);
  return readUsers(db, orgId, await query.execute());
}

export interface MemberRecord {
  /** Of the account; only the home organisation writes them. */
  readonly attributes?: Attributes;
  readonly membership?: { readonly groups?: readonly string[]; readonly attributes: Attributes };
}

/** Replaces the given attributes. @returns false when there is no such member */
export async function setMemberAttributes(
  db: Db,
  { orgId, id }: { orgId: string; id: string },
  { attributes, membership }: MemberRecord,
): Promise<boolean> {
  if (attributes !== undefined) {
    const account = updateAccount(db, { orgId, id }).set({ attributes: JSON.stringify(attributes) });
    if (!(await affectsAny(account))) return false;
  }
  if (membership === undefined) return true;
  return affectsAny(
    db
      .updateTable("membership")
      .set({ attributes: JSON.stringify(membership.attributes) })
      .where((eb) => allOf(eb, { org_id: orgId, user_id: id })),
  );
}

/** When the user became a member of the organisation, milliseconds. */
export async function findMemberSince(
  db: Db,
  user: Pick<User, "orgId" | "id" | "createdAt">,
): Promise<number> {
  const row = await db
    .selectFrom("membership")
    .select("created_at")
    .where((eb) => allOf(eb, { org_id: user.orgId, user_id: user.id }))
    .executeTakeFirst();
  return row?.created_at ?? user.createdAt;
}

/** Of a member of the organisation itself; of a guest, without the account. */
type FoundRow = { readonly [Name in keyof AccountRow]: AccountRow[Name] | null } & MembershipColumns;

type MembershipColumns = Pick<MembershipTable, "role" | "user_id" | "home_org_id"> & {
  readonly membershipAttributes: string | null;
  /** Of a guest. */
  readonly membershipDisabledAt: number | null;
  readonly groups: string | null;
};

type MemberRow = AccountRow & MembershipColumns;

function fromRow(orgId: string, row: MemberRow): User {
  return {
    homeOrgId: row.org_id,
    orgId,
    id: row.id,
    email: row.email,
    username: row.username,
    firstname: row.firstname,
    surname: row.surname,
    phone: row.phone,
    locale: row.locale,
    details: readDetails(row.profile),
    emailVerified: row.email_verified_at !== null,
    role: row.role as Role,
    attributes: readAttributes(row.attributes),
    membership: {
      groups: row.groups === null ? [] : (JSON.parse(row.groups) as string[]),
      attributes: readAttributes(row.membershipAttributes),
      ...(row.membershipDisabledAt === null ? {} : { disabledAt: row.membershipDisabledAt }),
    },
    createdAt: row.created_at,
    profileChangedAt: row.profile_changed_at ?? row.updated_at,
    disabledAt: row.disabled_at,
  };
}

const readAttributes = (text: string | null): Attributes =>
  text === null ? {} : (JSON.parse(text) as Attributes);
