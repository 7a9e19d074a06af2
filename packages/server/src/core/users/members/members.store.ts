/** Lists members, searched, filtered and paged by the database. */

import { type Expression, type ExpressionBuilder, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import { affectsAny } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import { countRows, inListOrder, type KeysetPage, readPage } from "../../../db/keyset.ts";
import { oneOf } from "../../../db/one-of.ts";
import type { Db } from "../../../db/open.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Role, User } from "../user.ts";
import {
  type AccountRow,
  disabledGuests,
  type HomeAccount,
  isOfGuest,
  withHomeAccounts,
} from "./guests.store.ts";

/** The status of a member: the first that applies, except `guest`, which matches every guest. */
export const memberStates = ["active", "disabled", "invited", "guest"] as const;
export type MemberState = (typeof memberStates)[number];

export interface MemberFilter {
  /** Each must occur in the email address, a name, the username or the PermId; in lower case. */
  readonly words?: readonly string[];
  readonly role?: Role;
  readonly state?: MemberState;
}

/** What an index holds in order. */
export const memberSorts = ["created", "email"] as const;
export type MemberSort = (typeof memberSorts)[number];

export interface MemberPage extends KeysetPage {
  readonly sort: MemberSort;
}

export interface ListedMember {
  readonly id: string;
  readonly createdAt: number;
  /** As the list is sorted by email: for a cursor. */
  readonly emailOrder: string;
  readonly email: string;
  readonly firstname: string;
  readonly surname: string;
  readonly username: string | null;
  readonly role: Role;
  readonly disabledAt: number | null;
  /** The account never had a password. */
  readonly isInvited: boolean;
  /** The home organisation, for guests. */
  readonly home: { readonly id: string; readonly name: string } | undefined;
}

/**
 * With the accounts of the organisation's own members: those of guests are read from their homes (guests.store.ts), and null
 * here. `home` is the organisation itself.
 */
const withAccounts = (of: SelectQueryBuilder<Schema, "membership", object>) =>
  of
    .leftJoin("user_account", (join) =>
      join
        .onRef("user_account.org_id", "=", "membership.org_id")
        .onRef("user_account.id", "=", "membership.user_id")
        .onRef("user_account.org_id", "=", "membership.home_org_id"),
    )
    .innerJoin("organisation as home", "home.id", "membership.org_id");

export const memberships = (db: Db, orgId: string) =>
  withAccounts(db.selectFrom("membership").where("membership.org_id", "=", orgId));

/** As in the indexes. */
export const orderColumns = {
  created: sql.ref("membership.created_at"),
  email: sql`substr(membership.search_key, 1, 100)`,
} as const;

const NEWEST_FIRST: MemberPage = { sort: "created", isDescending: true };

/** By default the newest first. */
export async function listMembers(
  db: Db,
  orgId: string,
  { filter, page = NEWEST_FIRST, limit }: { filter: MemberFilter; page?: MemberPage; limit: number },
): Promise<ListedMember[]> {
  const value = orderColumns[page.sort];
  const { within, direction } = readPage(page, { value, id: sql.ref("membership.user_id") });
  const matching = await matchingMembers(db, orgId, filter);
  const rows = await matching
    .select(["membership.user_id", "membership.home_org_id", "membership.created_at as createdAt"])
    .select(["membership.role", orderColumns.email.$castTo<string>().as("emailOrder")])
    .select(["user_account.id", "user_account.email", "firstname", "surname", "username", "password_hash"])
    .select("membership.disabled_at as membershipDisabledAt")
    .select((eb) => eb.fn.coalesce("user_account.disabled_at", "home.disabled_at").as("disabled_at"))
    .where(within)
    .orderBy(value, direction)
    .orderBy("membership.user_id", direction)
    .limit(limit)
    .execute();
  const members = await withHomeAccounts(db, orgId, inListOrder(page, rows));
  return members.map(([own, guest]) => toListed(own, guest));
}

type OwnRow = Pick<ListedMember, "createdAt" | "emailOrder"> & {
  readonly user_id: string;
  readonly home_org_id: string;
  readonly role: string;
  readonly membershipDisabledAt: number | null;
} & { readonly [Name in keyof ShownAccount]: ShownAccount[Name] | null };

type ShownAccount = Pick<
  AccountRow,
  "email" | "firstname" | "surname" | "username" | "password_hash" | "disabled_at"
>;

function toListed(own: OwnRow, guest: HomeAccount | undefined): ListedMember {
  const account = guest ?? own;
  return {
    id: own.user_id,
    createdAt: own.createdAt,
    emailOrder: own.emailOrder,
    email: account.email ?? "",
    firstname: account.firstname ?? "",
    surname: account.surname ?? "",
    username: account.username,
    role: own.role as Role,
    disabledAt: account.disabled_at ?? own.membershipDisabledAt,
    isInvited: !guest && own.password_hash === null,
    home: guest && { id: own.home_org_id, name: guest.homeName },
  };
}

/** @param max counts no further */
export async function countMembers(
  db: Db,
  orgId: string,
  { filter, max }: { filter: MemberFilter; max: number },
): Promise<number> {
  const all =
    filter.state === undefined ? counted(db, orgId, filter) : await matchingMembers(db, orgId, filter);
  return countRows(db, all.select("membership.user_id").limit(max));
}

/** Every membership has its account: without a status it decides nothing, and costs two look-ups a row. */
function counted(db: Db, orgId: string, filter: MemberFilter) {
  const query = narrowed(db, orgId, filter);
  // In the order in which rows were written: SQLite would read them by the primary key, each from another place of its file.
  return isPostgres(db) ? query : query.orderBy("membership.created_at");
}

/** By what stands in the membership itself. */
function narrowed(db: Db, orgId: string, { words = [], role }: MemberFilter) {
  let query = db.selectFrom("membership").where("membership.org_id", "=", orgId);
  for (const word of words) query = query.where((eb) => has(eb, word, isPostgres(db)));
  // A literal, as in the partial index: with a parameter the index would not be used.
  if (role === "Administrator")
    return query.where("role", "=", "Administrator").where("role", "<>", sql.lit("Standard"));
  return role === undefined ? query : query.where("role", "=", role);
}

async function matchingMembers(db: Db, orgId: string, filter: MemberFilter) {
  const { state } = filter;
  const query = withAccounts(narrowed(db, orgId, filter));
  if (state === undefined) return query;
  const needsGuests = state === "active" || state === "disabled";
  const disabled = needsGuests ? await disabledGuests(db, orgId) : [];
  return query.where((eb) => isIn(eb, state, oneOf(db, sql.ref("membership.user_id"), disabled)));
}

/** The tables of the query, with `home` beside those of the schema. */
type Listed = ExpressionBuilder<
  Schema & { home: Schema["organisation"] },
  "membership" | "user_account" | "home"
>;

/** Byte by byte, which takes a third of LIKE's time: both sides are in lower case. */
function has(
  eb: ExpressionBuilder<Schema, "membership">,
  word: string,
  isOnPostgres: boolean,
): Expression<SqlBool> {
  const place = sql.raw(isOnPostgres ? "strpos" : "instr");
  const isIn = (column: "membership.search_key" | "membership.user_id") =>
    sql<SqlBool>`${place}(${eb.ref(column)}, ${word}) > 0`;
  // Nothing else is in a UUID.
  return /^[0-9a-f-]+$/.test(word)
    ? eb.or([isIn("membership.search_key"), isIn("membership.user_id")])
    : isIn("membership.search_key");
}

function isIn(eb: Listed, state: MemberState, isDisabledGuest: Expression<SqlBool>): Expression<SqlBool> {
  const isEnabled = eb.and([eb("user_account.disabled_at", "is", null), eb("home.disabled_at", "is", null)]);
  const isOwn = eb("membership.home_org_id", "=", eb.ref("membership.org_id"));
  const isAccepted = eb("user_account.password_hash", "is not", null);
  switch (state) {
    case "active":
      return eb.or([eb.and([isOwn, isEnabled, isAccepted]), eb.and([isOfGuest, eb.not(isDisabledGuest)])]);
    case "disabled":
      return eb.or([eb.and([isOwn, eb.not(isEnabled)]), eb.and([isOfGuest, isDisabledGuest])]);
    case "invited":
      return eb.and([isOwn, isEnabled, eb.not(isAccepted)]);
    case "guest":
      return isOfGuest;
  }
}

/** Databases fold the case of ASCII letters only: texts are normalised here. */
const comparable = (text: string): string => text.normalize("NFKC").toLowerCase();

export const searchKey = (user: Pick<User, "email" | "firstname" | "surname" | "username">): string =>
  comparable([user.email, user.firstname, user.surname, user.username ?? ""].join(" ").trim());

/** More words add little, and each costs a comparison per row. */
const MAX_WORDS = 6;

/**
 * Words of a search: each must occur in the search key or the PermId.
 * @param text as entered.
 * @returns an empty list for an empty text
 */
export const searchWords = (text: string): string[] =>
  comparable(text.slice(0, 100))
    .split(/[\s\p{Cc}]+/u)
    .filter((word) => word !== "")
    .slice(0, MAX_WORDS);

/** All organisations of an account, its home organisation included. */
export async function organisationsOfUser(db: Db, homeOrgId: string, id: string): Promise<string[]> {
  const rows = await db
    .selectFrom("membership")
    .select("org_id")
    .where((eb) => allOf(eb, { home_org_id: homeOrgId, user_id: id }))
    .orderBy("org_id")
    .execute();
  return rows.map(({ org_id }) => org_id);
}

/**
 * Call it wherever an account's email address, names or username, or a membership is written.
 * @param only of this membership; by default of all of the account's
 */
export async function updateSearchKey(
  tx: Db,
  account: { homeOrgId: string; id: string },
  only?: string,
): Promise<void> {
  const { homeOrgId, id } = account;
  const row = await tx
    .selectFrom("user_account")
    .select(["user_account.email", "firstname", "surname", "username"])
    .where((eb) => allOf(eb, { org_id: homeOrgId, id }))
    .executeTakeFirst();
  if (!row) return;
  for (const orgId of only === undefined ? await organisationsOfUser(tx, homeOrgId, id) : [only])
    await tx
      .updateTable("membership")
      .set({ search_key: searchKey(row) })
      .where((eb) => allOf(eb, { org_id: orgId, user_id: id, home_org_id: homeOrgId }))
      .execute();
}

/** @returns false when there is no such member */
export const setRole = (tx: Db, member: { orgId: string; userId: string }, role: Role): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("membership")
      .set({ role })
      .where((eb) => allOf(eb, { org_id: member.orgId, user_id: member.userId })),
  );
