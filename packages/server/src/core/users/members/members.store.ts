/** Lists members, searched, filtered and paged by the database. */

import { type Expression, type ExpressionBuilder, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import { affectsAny } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import { countRows, inListOrder, type KeysetPage, readPage } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import type { Schema } from "../../../db/schema.ts";
import type { Role, User } from "../user.ts";

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

const withAccounts = (of: SelectQueryBuilder<Schema, "membership", object>) =>
  of
    .innerJoin("user_account", (join) =>
      join
        .onRef("user_account.org_id", "=", "membership.home_org_id")
        .onRef("user_account.id", "=", "membership.user_id"),
    )
    .innerJoin("organisation as home", "home.id", "membership.home_org_id");

/** With their accounts and home organisations. */
export const memberships = (db: Db, orgId: string) =>
  withAccounts(db.selectFrom("membership").where("membership.org_id", "=", orgId));

// As in the indexes.
const orderColumns = {
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
  const rows = await matchingMembers(db, orgId, filter)
    .select(["membership.user_id as id", "membership.created_at as createdAt", "membership.role"])
    .select(orderColumns.email.$castTo<string>().as("emailOrder"))
    .select([
      "user_account.email",
      "firstname",
      "surname",
      "username",
      "home.id as homeId",
      "home.name as homeName",
    ])
    .select((eb) => eb("password_hash", "is", null).as("hasNoPassword"))
    .select((eb) => eb.fn.coalesce("user_account.disabled_at", "home.disabled_at").as("disabledAt"))
    .where(within)
    .orderBy(value, direction)
    .orderBy("membership.user_id", direction)
    .limit(limit)
    .execute();
  return inListOrder(page, rows).map(({ homeId, homeName, hasNoPassword, ...member }) => {
    const isGuest = homeId !== orgId;
    const home = isGuest ? { id: homeId, name: homeName } : undefined;
    return { ...member, role: member.role as Role, isInvited: Boolean(hasNoPassword) && !isGuest, home };
  });
}

/** @param max counts no further */
export const countMembers = (
  db: Db,
  orgId: string,
  { filter, max }: { filter: MemberFilter; max: number },
): Promise<number> =>
  countRows(
    db,
    (filter.state === undefined ? counted : matchingMembers)(db, orgId, filter)
      .select("membership.user_id")
      .limit(max),
  );

/** Every membership has its account and its home: without a status they decide nothing, and cost two look-ups a row. */
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

function matchingMembers(db: Db, orgId: string, filter: MemberFilter) {
  const { state } = filter;
  const query = withAccounts(narrowed(db, orgId, filter));
  return state === undefined ? query : query.where((eb) => isIn(eb, state));
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

function isIn(eb: Listed, state: MemberState): Expression<SqlBool> {
  const isEnabled = eb.and([eb("user_account.disabled_at", "is", null), eb("home.disabled_at", "is", null)]);
  const isOwn = eb("membership.home_org_id", "=", eb.ref("membership.org_id"));
  const isAccepted = eb("user_account.password_hash", "is not", null);
  switch (state) {
    case "active":
      return eb.and([isEnabled, eb.or([isAccepted, eb.not(isOwn)])]);
    case "disabled":
      return eb.not(isEnabled);
    case "invited":
      return eb.and([isOwn, isEnabled, eb.not(isAccepted)]);
    case "guest":
      // As in the partial index of guests.
      return eb("membership.home_org_id", "<>", eb.ref("membership.org_id"));
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

/** Call it wherever an account's email address, names or username, or a membership is written. */
export async function updateSearchKey(tx: Db, account: { homeOrgId: string; id: string }): Promise<void> {
  const row = await tx
    .selectFrom("user_account")
    .select(["user_account.email", "firstname", "surname", "username"])
    .where((eb) => allOf(eb, { org_id: account.homeOrgId, id: account.id }))
    .executeTakeFirst();
  if (!row) return;
  await tx
    .updateTable("membership")
    .set({ search_key: searchKey(row) })
    .where((eb) => allOf(eb, { home_org_id: account.homeOrgId, user_id: account.id }))
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
