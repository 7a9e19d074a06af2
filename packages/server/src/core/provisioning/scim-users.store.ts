/** Stores what a connection keeps about the users it provisions, beside their accounts. */
import { type RawBuilder, sql } from "kysely";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../db/records.ts";
import type { ScimUserTable } from "../../db/tables/connections.ts";
import { emailKey } from "../users/user.ts";

export type ScimUser = RecordOf<ScimUserTable>;

/** As compared: case and width don't matter. */
export const userNameKey = emailKey;

/** What of an account a resource is made of. */
export interface ProvisionedRow {
  readonly id: string;
  readonly email: string;
  readonly firstname: string;
  readonly surname: string;
  readonly phone: string | null;
  readonly locale: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly disabledAt: number | null;
  /** Null for a user whom no connection provisions. */
  readonly userName: string | null;
  readonly externalId: string | null;
  readonly resource: string | null;
  readonly connectionId: string | null;
  readonly scimUpdatedAt: number | null;
  readonly deletedAt: number | null;
}

export interface ConnectionOf {
  readonly orgId: string;
  readonly connectionId: string;
}

const visible = (db: Db, { orgId, connectionId }: ConnectionOf) =>
  db
    .selectFrom("user_account")
    .leftJoin("scim_user", (join) =>
      join
        .onRef("scim_user.org_id", "=", "user_account.org_id")
        .onRef("scim_user.user_id", "=", "user_account.id"),
    )
    .where("user_account.org_id", "=", orgId)
    .where((eb) =>
      eb.or([
        eb("scim_user.user_id", "is", null),
        eb.and([eb("scim_user.connection_id", "=", connectionId), eb("scim_user.deleted_at", "is", null)]),
      ]),
    );

const columns = [
  "user_account.id",
  "user_account.email",
  "user_account.firstname",
  "user_account.surname",
  "user_account.phone",
  "user_account.locale",
  "user_account.created_at as createdAt",
  "user_account.profile_changed_at as profileChangedAt",
  "user_account.updated_at as accountUpdatedAt",
  "user_account.disabled_at as disabledAt",
  "scim_user.user_name as userName",
  "scim_user.external_id as externalId",
  "scim_user.resource",
  "scim_user.connection_id as connectionId",
  "scim_user.updated_at as scimUpdatedAt",
  "scim_user.deleted_at as deletedAt",
] as const;

type Read = Omit<ProvisionedRow, "updatedAt"> & {
  readonly profileChangedAt: number | null;
  readonly accountUpdatedAt: number;
};

const readRow = ({ profileChangedAt, accountUpdatedAt, ...row }: Read): ProvisionedRow => ({
  ...row,
  updatedAt: Math.max(profileChangedAt ?? accountUpdatedAt, row.scimUpdatedAt ?? 0, row.disabledAt ?? 0),
});

/** A user whom the connection sees: its own, or one whom no connection provisions. */
export async function findVisible(
  db: Db,
  where: ConnectionOf,
  id: string,
): Promise<ProvisionedRow | undefined> {
  const row = await visible(db, where).select(columns).where("user_account.id", "=", id).executeTakeFirst();
  return row && readRow(row);
}

/** What a user must have at least to be what a filter looks for; it may be more than that. */
export interface Narrowing {
  readonly id?: string;
  readonly userName?: string;
  readonly externalId?: string;
  /** Any address of the user. */
  readonly email?: string;
}

/** Each part names the ids, which an index has: of conditions on two tables that `or` joins, no database uses one. */
function narrowed({ orgId, connectionId }: ConnectionOf, { id, userName, externalId, email }: Narrowing) {
  const isOne = (ids: RawBuilder<unknown>) => sql<boolean>`user_account.id in (${ids})`;
  const own = sql`select user_id from scim_user where org_id = ${orgId} and connection_id = ${connectionId}`;
  const account = (address: string) =>
    sql`select id from user_account where org_id = ${orgId} and email_key = ${emailKey(address)}`;
  return [
    ...(id === undefined ? [] : [sql<boolean>`user_account.id = ${id}`]),
    ...(externalId === undefined ? [] : [isOne(sql`${own} and external_id = ${externalId}`)]),
    ...(userName === undefined
      ? []
      : [isOne(sql`${own} and user_name_key = ${userNameKey(userName)} union all ${account(userName)}`)]),
    ...(email === undefined
      ? []
      : [
          isOne(sql`${own} and more_emails is not null and more_emails like ${`%${escaped(email.toLowerCase())}%`} escape '!'
            union all ${account(email)}`),
        ]),
  ];
}

const escaped = (text: string): string => text.replaceAll(/[!%_]/g, "!$&");

export interface UserPage {
  readonly where: ConnectionOf;
  readonly narrowing: Narrowing;
  /** The id of the last one of the page before. */
  readonly after?: string | undefined;
  readonly offset?: number;
  readonly limit: number;
}

/** In the order of their ids. */
export async function listVisible(
  db: Db,
  { where, narrowing, after, offset = 0, limit }: UserPage,
): Promise<ProvisionedRow[]> {
  let query = visible(db, where).select(columns);
  for (const condition of narrowed(where, narrowing)) query = query.where(condition);
  if (after !== undefined) query = query.where("user_account.id", ">", after);
  if (offset > 0) query = query.offset(offset);
  return (await query.orderBy("user_account.id").limit(limit).execute()).map(readRow);
}

/** Without a look at the rows of each: indices alone are counted. */
export async function countVisible(db: Db, { orgId, connectionId }: ConnectionOf): Promise<number> {
  const { rows } = await sql<{ count: number | string }>`
    select (select count(*) from user_account where org_id = ${orgId})
      - (select count(*) from scim_user where org_id = ${orgId})
      + (select count(*) from scim_user where org_id = ${orgId} and connection_id = ${connectionId})
      - (select count(*) from scim_user where org_id = ${orgId} and connection_id = ${connectionId}
        and deleted_at is not null) as count`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

/** Whom the organisation's directories know by this id: one of each, without those that are deleted or whose directory is off. */
export async function findProvisionedBy(
  db: Db,
  { orgId, externalId }: { readonly orgId: string; readonly externalId: string },
): Promise<Array<Pick<ScimUser, "userId" | "connectionId">>> {
  const rows = await db
    .selectFrom("connection")
    .innerJoin("scim_user", (join) =>
      join
        .onRef("scim_user.org_id", "=", "connection.org_id")
        .onRef("scim_user.connection_id", "=", "connection.id"),
    )
    .select(["scim_user.user_id", "scim_user.connection_id"])
    .where((eb) =>
      allOf(eb, { "connection.org_id": orgId, "connection.kind": "scim", "connection.enabled": 1 }),
    )
    .where("scim_user.external_id", "=", externalId)
    .where("scim_user.deleted_at", "is", null)
    .execute();
  return rows.map((row) => toRecord(row));
}

/** Who is provisioned under a user name, deleted ones included. */
export async function findByUserName(
  db: Db,
  { orgId, connectionId }: ConnectionOf,
  userName: string,
): Promise<ScimUser | undefined> {
  const row = await db
    .selectFrom("scim_user")
    .selectAll()
    .where((eb) =>
      allOf(eb, { org_id: orgId, connection_id: connectionId, user_name_key: userNameKey(userName) }),
    )
    .executeTakeFirst();
  return row && toRecord(row);
}

/** Who has the name or the id of another directory, other than `userId`; deleted ones do not count. */
export async function findClash(
  db: Db,
  { orgId, connectionId }: ConnectionOf,
  { userId, userName, externalId }: { userId: string; userName: string; externalId: string | null },
): Promise<"userName" | "externalId" | undefined> {
  const others = db
    .selectFrom("scim_user")
    .select("user_name_key")
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: connectionId }))
    .where("user_id", "<>", userId);
  const named = others.where("user_name_key", "=", userNameKey(userName));
  // Each by its index: of conditions that `or` joins, PostgreSQL may read every user of the connection.
  const either = externalId === null ? named : named.unionAll(others.where("external_id", "=", externalId));
  const rows = await either.execute();
  const [row] = rows;
  if (!row) return undefined;
  return row.user_name_key === userNameKey(userName) ? "userName" : "externalId";
}

/** @param user.emails all of the resource */
export async function putScimUser(
  tx: Db,
  {
    emails,
    ...user
  }: Omit<ScimUser, "userNameKey" | "moreEmails" | "version"> & {
    readonly emails: readonly string[];
  },
): Promise<void> {
  const moreEmails = emails.length > 1 ? emails.map((email) => email.toLowerCase()).join("\n") : null;
  const keys = { userNameKey: userNameKey(user.userName), moreEmails };
  const row = { ...toRow({ ...user, ...keys }), version: 1 };
  const { org_id: _, user_id: __, version: ___, ...changed } = row;
  await tx
    .insertInto("scim_user")
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(["org_id", "user_id"]).doUpdateSet((eb) => ({
        ...changed,
        version: eb("scim_user.version", "+", 1),
      })),
    )
    .execute();
}

/** A user whom the client deleted; the account stays. */
export async function markDeleted(
  tx: Db,
  { orgId, userId, now }: { orgId: string; userId: string; now: number },
): Promise<void> {
  await tx
    .updateTable("scim_user")
    .set({ deleted_at: now, updated_at: now, external_id: null })
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
    .execute();
}

/** What is kept of a user, deleted ones included; undefined for the organisation's own. */
export async function findScimUser(db: Db, orgId: string, userId: string): Promise<ScimUser | undefined> {
  const row = await db
    .selectFrom("scim_user")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
    .executeTakeFirst();
  return row && toRecord(row);
}
