/** The list of users: the database filters, sorts and pages; the page's users are read with what their records show. */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { guestRelation } from "../../../core/users/members/guests.store.ts";
import { memberships, orderColumns, searchWords } from "../../../core/users/members/members.store.ts";
import type { DetailName } from "../../../core/users/profile/details.ts";
import { emailKey } from "../../../core/users/user.ts";
import { findUsers } from "../../../core/users/users.store.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { containing } from "../../../db/search-text.ts";
import type { CheckedFilter } from "../lists/checked-filter.ts";
import { jsonText } from "../lists/json-member.store.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlField, type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";
import { detailMembers, type ShownUser } from "./user-record.ts";
import { connectionId, externalId, findUserStates, invitedUntil, lastSignIn } from "./user-state.store.ts";

/** Of the account, wherever it is: guests' are joined as `guest`, where there are any. */
const accountColumn = (hasGuests: boolean) => (column: string) =>
  hasGuests
    ? sql`coalesce(${sql.ref(`user_account.${column}`)}, ${sql.ref(`guest.${column}`)})`
    : sql`${sql.ref(`user_account.${column}`)}`;

const isGuest = sql<SqlBool>`(membership.home_org_id <> membership.org_id)`;
/** Of guests, the record does not say it. */
const ofOwn = (condition: RawBuilder<SqlBool>) => sql<SqlBool>`(not ${isGuest} and ${condition})`;

const connectionOfOwn = sql`case when ${isGuest} then null else ${connectionId} end`;

interface Listed {
  readonly hasGuests: boolean;
  /** An index finds the few that there are. */
  readonly isNarrow: boolean;
}

/** As the records show them. @param now milliseconds */
function userFields(isOnPostgres: boolean, now: number, { hasGuests, isNarrow }: Listed): SqlFields {
  const columnOf = accountColumn(hasGuests);
  const account = (column: string): SqlField => ({ kind: "text", of: columnOf(column) });
  const detail = ([name, member]: readonly [string, string]): [string, SqlField] => [
    member,
    { kind: "text", of: jsonText(isOnPostgres, columnOf("profile"), name as DetailName) },
  ];
  const isDisabled = sql<SqlBool>`(${columnOf("disabled_at")} is not null
    or membership.disabled_at is not null or (not ${isGuest} and home.disabled_at is not null))`;
  const began = sql.ref("membership.created_at");
  const isInvited = ofOwn(sql<SqlBool>`coalesce(${invitedUntil}, 0) > cast(${now} as bigint)`);
  return {
    id: { kind: "text", of: sql.ref("membership.user_id") },
    email: { kind: "text", of: columnOf("email"), ...(isNarrow ? {} : { order: orderColumns.email }) },
    emailVerified: { kind: "boolean", is: sql<SqlBool>`(${columnOf("email_verified_at")} is not null)` },
    username: account("username"),
    firstname: account("firstname"),
    surname: account("surname"),
    phone: account("phone"),
    locale: account("locale"),
    ...Object.fromEntries(Object.entries(detailMembers).map(detail)),
    role: { kind: "text", of: sql.ref("membership.role") },
    state: {
      kind: "text",
      of: sql`case when ${isDisabled} then 'disabled' when ${isInvited} then 'invited' else 'active' end`,
    },
    guest: { kind: "boolean", is: isGuest },
    source: { kind: "text", of: sql`case when ${connectionOfOwn} is null then 'local' else 'scim' end` },
    connectionId: { kind: "text", of: connectionOfOwn },
    externalId: { kind: "text", of: sql`case when ${isGuest} then null else ${externalId} end` },
    hasPassword: { kind: "boolean", is: ofOwn(sql<SqlBool>`user_account.password_changed_at is not null`) },
    lastSignInAt: { kind: "time", of: lastSignIn },
    // As in the index; of a few, as in none: SQLite would read everybody in its order. Of a guest, when the membership began.
    createdAt: { kind: "time", of: isNarrow ? sql`(${began} + 0)` : began, isNeverNull: true },
    updatedAt: {
      kind: "time",
      of: sql`coalesce(${columnOf("profile_changed_at")}, ${columnOf("updated_at")})`,
      isNeverNull: true,
    },
  };
}

/** Names and kinds, for the parameters of the list. */
export const userListFields: SqlFields = userFields(false, 0, { hasGuests: false, isNarrow: false });

export async function listUserPage(
  db: Db,
  orgId: string,
  list: ListRequest,
  now: number,
): Promise<ListPage<ShownUser & { readonly sortValue: string | number }>> {
  const guests = readsAccounts(list) ? await guestRelation(db, orgId) : undefined;
  const email = list.filter && emailIn(list.filter);
  const isNarrow = email !== undefined;
  const fields = userFields(isPostgres(db), now, { hasGuests: guests !== undefined, isNarrow });
  const sqlOf = sqlList(db, list, fields, sql.ref("membership.user_id"));
  const members = () => {
    const query = memberships(db, orgId);
    const isTheirs = sql<SqlBool>`guest.id = membership.user_id and ${isGuest}`;
    // Its columns are read by the fields alone.
    return guests
      ? (query.leftJoin(guests.as("guest"), (join) => join.on(isTheirs)) as unknown as typeof query)
      : query;
  };
  const found = sql<SqlBool>`(${mentions(list.search ?? "", isPostgres(db))} and ${beginsSo(db, list)})`;
  const matching = () => {
    const query = members().where(sqlOf.matching).where(found);
    return email === undefined ? query : query.where(hasAddress(orgId, email, guests));
  };
  const places = await matching()
    .select("membership.user_id as id")
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const ids = places.map(({ id }) => id);
  const [users, states] = [await findUsers(db, orgId, ids), await findUserStates(db, orgId, ids)];
  const byId = new Map(users.map((user) => [user.id, user]));
  const rows = places.flatMap(({ id, sortValue }) => {
    const user = byId.get(id);
    return user ? [{ ...user, state: states.get(id), sortValue }] : [];
  });
  return sqlPage(list, rows, () => {
    // Every membership has its account: without a filter it decides nothing, and costs two look-ups a row.
    const plain = db.selectFrom("membership").where("membership.org_id", "=", orgId).where(found);
    return countRows(db, (list.filter ? matching() : plain).select("membership.user_id"));
  });
}

/** The address that a user must have to be what the filter looks for. */
function emailIn(filter: CheckedFilter): string | undefined {
  if (filter.op === "and" && "filters" in filter)
    return filter.filters.map(emailIn).find((email) => email !== undefined);
  return filter.op === "eq" && filter.member === "email" ? String(filter.value) : undefined;
}

/**
 * What the filter says of the beginning of the address, once more as PostgreSQL reads it from the index on addresses, where the
 * database sorts by bytes; SQLite's `like` reads no index. Letters beyond ASCII may be folded differently there.
 */
function beginsSo(db: Db, { filter }: ListRequest): RawBuilder<SqlBool> {
  const beginning = isPostgres(db) && filter ? beginningIn(filter) : undefined;
  return beginning === undefined
    ? sql<SqlBool>`1 = 1`
    : sql<SqlBool>`${orderColumns.email} like ${containing(beginning).slice(1)} escape '!'`;
}

const ASCII = /^[\x21-\x7e]{1,100}$/;

function beginningIn(filter: CheckedFilter): string | undefined {
  if (filter.op === "and" && "filters" in filter)
    return filter.filters.map(beginningIn).find((beginning) => beginning !== undefined);
  if (filter.op !== "sw" || filter.member !== "email" || !ASCII.test(String(filter.value))) return undefined;
  return String(filter.value).toLowerCase();
}

/** As an index finds it; of guests, whose accounts are elsewhere, all. */
function hasAddress(
  orgId: string,
  email: string,
  guests: RawBuilder<unknown> | undefined,
): RawBuilder<SqlBool> {
  const own = sql`select id from user_account where org_id = ${orgId} and email_key = ${emailKey(email)}`;
  const others = guests ? sql`union all select id from ${guests} as others` : sql``;
  return sql<SqlBool>`membership.user_id in (${own} ${others})`;
}

/** What every list has: guests' accounts need not be read for it. */
const ofMembership: readonly string[] = ["createdAt", "id", "email", "role", "guest", "lastSignInAt"];

const readsAccounts = ({ filter, sort }: ListRequest): boolean =>
  filter !== undefined || !ofMembership.includes(sort.member);

/** Each word occurs in the email address, a name, the username or the PermId. */
function mentions(text: string, isOnPostgres: boolean): RawBuilder<SqlBool> {
  const place = sql.raw(isOnPostgres ? "strpos" : "instr");
  const words = searchWords(text).map(
    (word) =>
      sql<SqlBool>`(${place}(membership.search_key, ${word}) > 0 or ${place}(membership.user_id, ${word}) > 0)`,
  );
  return words.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`(${sql.join(words, sql` and `)})`;
}
