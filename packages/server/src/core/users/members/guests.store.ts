/**
 * The accounts of guests, which are their homes'. Data distributes by organisation: no statement joins the rows of two, so what
 * a guest's account says is read from its home afterwards, and only for guests.
 */
import { type RawBuilder, type Selectable, type SqlBool, sql } from "kysely";
import { affectsAny } from "../../../db/affected.ts";
import { columnsOf } from "../../../db/columns.ts";
import { allOf } from "../../../db/conditions.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import type { UserAccountTable } from "../../../db/tables/users.ts";

/** An account's columns; `disabled_at` is the home organisation's too, which disables its accounts everywhere. */
export type AccountRow = Selectable<UserAccountTable>;

/** A guest's account. */
export interface HomeAccount extends AccountRow {
  readonly homeName: string;
}

export interface GuestKey {
  readonly homeOrgId: string;
  readonly id: string;
}

/** Without `disabled_at`, which the home organisation has too. */
export const accountColumns = columnsOf<Omit<UserAccountTable, "disabled_at">>()(
  ...([
    "org_id",
    "id",
    "email",
    "email_key",
    "email_verified_at",
    "username",
    "firstname",
    "surname",
  ] as const),
  ...(["phone", "locale", "password_hash", "password_changed_at", "created_at", "updated_at"] as const),
  ...(["attributes", "profile", "profile_changed_at"] as const),
);

const accounts = (db: Db) =>
  db
    .selectFrom("user_account")
    .innerJoin("organisation as home", "home.id", "user_account.org_id")
    .select(accountColumns.map((name) => `user_account.${name}` as const))
    .select("home.name as homeName")
    .select((eb) => eb.fn.coalesce("user_account.disabled_at", "home.disabled_at").as("disabled_at"));

const selectAccount = prepared((db, value: Parameter<{ homeOrgId: string; id: string }>) =>
  accounts(db)
    .where("user_account.org_id", "=", value("homeOrgId"))
    .where("home.id", "=", value("homeOrgId"))
    .where("user_account.id", "=", value("id")),
);

export async function findHomeAccount(db: Db, { homeOrgId, id }: GuestKey): Promise<HomeAccount | undefined> {
  const [row] = await selectAccount(db, { homeOrgId, id });
  return row;
}

/** Databases limit the parameters of a statement. */
const MAX_KEYS = 500;

const keyOf = (homeOrgId: string, id: string): string => `${homeOrgId} ${id}`;

/** Of a page of guests, from all their homes in one statement: there may be as many homes as guests. */
async function accountsOf(
  db: Db,
  guests: readonly GuestKey[],
  isDisabled: boolean,
): Promise<Map<string, HomeAccount>> {
  const found = new Map<string, HomeAccount>();
  for (let at = 0; at < guests.length; at += MAX_KEYS) {
    const some = guests.slice(at, at + MAX_KEYS);
    const homes = [...new Set(some.map(({ homeOrgId }) => homeOrgId))];
    let query = accounts(db)
      .where("user_account.org_id", "in", homes)
      .where(
        "user_account.id",
        "in",
        some.map(({ id }) => id),
      );
    if (isDisabled)
      query = query.where((eb) =>
        eb.or([eb("user_account.disabled_at", "is not", null), eb("home.disabled_at", "is not", null)]),
      );
    for (const row of await query.execute()) found.set(keyOf(row.org_id, row.id), row);
  }
  return found;
}

export interface HomeAccounts {
  /** Undefined when the account has ended. */
  of(guest: GuestKey): HomeAccount | undefined;
}

export async function findHomeAccounts(db: Db, guests: readonly GuestKey[]): Promise<HomeAccounts> {
  const found = await accountsOf(db, guests, false);
  return { of: ({ homeOrgId, id }) => found.get(keyOf(homeOrgId, id)) };
}

/**
 * A membership of a guest, as in the partial index of these, who are few. SQLite takes that index for the second comparison alone:
 * without it every member is read, at each sign-in too.
 */
export const isOfGuest = sql<SqlBool>`(membership.home_org_id <> membership.org_id and membership.home_org_id > '')`;

/** All guests of an organisation, who are few. */
export async function listGuests(db: Db, orgId: string): Promise<GuestKey[]> {
  const rows = await db
    .selectFrom("membership")
    .select(["home_org_id", "user_id"])
    .where("org_id", "=", orgId)
    .where(isOfGuest)
    .execute();
  return rows.map(({ home_org_id, user_id }) => ({ homeOrgId: home_org_id, id: user_id }));
}

/** PermIds of the guests that are disabled here, or whose account or home organisation is. */
export async function disabledGuests(db: Db, orgId: string): Promise<string[]> {
  const guests = await listGuests(db, orgId);
  const disabled = await accountsOf(db, guests, true);
  const here = await db
    .selectFrom("membership")
    .select("user_id")
    .where("org_id", "=", orgId)
    .where(isOfGuest)
    .where("disabled_at", "is not", null)
    .execute();
  const disabledHere = new Set(here.map(({ user_id }) => user_id));
  return guests
    .filter(({ homeOrgId, id }) => disabledHere.has(id) || disabled.has(keyOf(homeOrgId, id)))
    .map(({ id }) => id);
}

/** @returns false when there is no such guest, or it is so already */
export const setGuestDisabled = (
  db: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
  disabledAt: number | null,
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("membership")
      .set({ disabled_at: disabledAt })
      .where((eb) => allOf(eb, { org_id: orgId, user_id: id }))
      .where(isOfGuest)
      .where("disabled_at", disabledAt === null ? "is not" : "is", null),
  );

/** The same members, with the accounts of the guests among them; those whose account has ended are left out. */
export async function withHomeAccounts<
  R extends { readonly home_org_id: string; readonly user_id: string; readonly id: string | null },
>(db: Db, orgId: string, rows: readonly R[]): Promise<Array<readonly [R, HomeAccount | undefined]>> {
  const guests = rows.filter(({ home_org_id }) => home_org_id !== orgId).map(toKey);
  const homes = guests.length === 0 ? undefined : await findHomeAccounts(db, guests);
  return rows.flatMap((row): Array<readonly [R, HomeAccount | undefined]> => {
    if (row.home_org_id === orgId) return row.id === null ? [] : [[row, undefined] as const];
    const account = homes?.of(toKey(row));
    return account ? [[row, account] as const] : [];
  });
}

const toKey = (row: { readonly home_org_id: string; readonly user_id: string }): GuestKey => ({
  homeOrgId: row.home_org_id,
  id: row.user_id,
});

/** What lists filter and sort by. */
const relationColumns = {
  id: "text",
  email: "text",
  email_verified_at: "bigint",
  username: "text",
  firstname: "text",
  surname: "text",
  phone: "text",
  locale: "text",
  profile: "text",
  profile_changed_at: "bigint",
  updated_at: "bigint",
  disabled_at: "bigint",
} as const satisfies { [Name in keyof UserAccountTable]?: string };

/** All guests of the organisation as a table that a statement can join; undefined where there are none. */
export async function guestRelation(db: Db, orgId: string): Promise<RawBuilder<{ id: string }> | undefined> {
  const guests = await listGuests(db, orgId);
  return guests.length === 0 ? undefined : relationOf(db, guests);
}

/** The same, for a statement that joins it in any case. */
export const guestsAsTable = async (db: Db, orgId: string): Promise<RawBuilder<{ id: string }>> =>
  relationOf(db, await listGuests(db, orgId));

async function relationOf(db: Db, guests: readonly GuestKey[]): Promise<RawBuilder<{ id: string }>> {
  const names = Object.keys(relationColumns) as Array<keyof typeof relationColumns>;
  const rows = [...(await accountsOf(db, guests, false)).values()].map((row) =>
    Object.fromEntries(names.map((name) => [name, row[name]])),
  );
  const json = JSON.stringify(rows);
  if (isPostgres(db)) {
    const columns = sql.raw(names.map((name) => `${name} ${relationColumns[name]}`).join(", "));
    return sql<{
      id: string;
    }>`(select * from json_to_recordset(cast(${json} as json)) as account (${columns}))`;
  }
  const members = names.map((name) => sql`json_extract(value, ${sql.lit(`$.${name}`)}) as ${sql.ref(name)}`);
  return sql<{ id: string }>`(select ${sql.join(members)} from json_each(${json}))`;
}
