/** Reads everything stored about a user. */
import { type RawBuilder, sql } from "kysely";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import type { Schema } from "../../../db/schema.ts";
import type { User } from "../user.ts";

type Member = Pick<User, "orgId" | "id">;
type Row = Readonly<Record<string, unknown>>;

/** The account's row in the home organisation. */
export const readAccount = (db: Db, { homeOrgId, id }: Pick<User, "homeOrgId" | "id">) =>
  db
    .selectFrom("user_account")
    .select(["email", "email_verified_at", "username", "firstname", "surname", "phone", "locale", "profile"])
    .select(["password_changed_at", "created_at", "updated_at", "attributes"])
    .where((eb) => allOf(eb, { org_id: homeOrgId, id }))
    .executeTakeFirst();

export const readMemberships = (db: Db, { homeOrgId, id }: Pick<User, "homeOrgId" | "id">) =>
  db
    .selectFrom("membership")
    .innerJoin("organisation", "organisation.id", "membership.org_id")
    .select(["membership.org_id", "organisation.name", "membership.role", "membership.created_at"])
    .select("membership.attributes")
    .where((eb) => allOf(eb, { "membership.home_org_id": homeOrgId, "membership.user_id": id }))
    .orderBy("membership.created_at")
    .orderBy("membership.org_id")
    .execute();

type TableWith<Columns> = {
  [Name in keyof Schema]: Schema[Name] extends Columns ? Name : never;
}[keyof Schema];

interface OfUser {
  org_id: string;
  user_id: string | null;
}

/** The exported members, each with the column that it comes from. */
type Members<Name extends keyof Schema> = Readonly<Record<string, keyof Schema[Name] & string>>;

/** Of a user, oldest first. @param time the column that orders the rows */
export async function readRows<Name extends TableWith<OfUser>>(
  db: Db,
  { orgId, id }: Member,
  table: Name,
  time: keyof Schema[Name] & string,
  members: Members<Name>,
): Promise<Row[]> {
  const columns = sql.join(Object.values(members).map((column) => sql.ref(column)));
  const { rows } = await sql<Row>`select ${columns} from ${sql.table(table)}
    where org_id = ${orgId} and user_id = ${id} order by ${sql.ref(time)}`.execute(db);
  return rows.map((row) => named(row, members));
}

/** The same for what an application has about the user, with the application. */
export async function readRowsOfApplications<Name extends TableWith<OfUser & { application_id: string }>>(
  db: Db,
  { orgId, id }: Member,
  table: Name,
  time: keyof Schema[Name] & string,
  members: Members<Name>,
  condition: RawBuilder<unknown> = sql`true`,
): Promise<Row[]> {
  const columns = sql.join(Object.values(members).map((column) => sql.ref(`owned.${column}`)));
  const { rows } = await sql<Row>`select application.id as application_id, application.name, ${columns}
    from ${sql.table(table)} as owned
    join application on application.org_id = owned.org_id and application.id = owned.application_id
    where owned.org_id = ${orgId} and owned.user_id = ${id} and ${condition}
    order by ${sql.ref(`owned.${time}`)}`.execute(db);
  return rows.map((row) => ({
    application: { id: row["application_id"], name: row["name"] },
    ...named(row, members),
  }));
}

/** At which identity providers the user signs in. */
export async function readIdentities(db: Db, { orgId, id }: Member): Promise<Row[]> {
  const rows = await db
    .selectFrom("linked_identity as linked")
    .innerJoin("connection", (join) =>
      join
        .onRef("connection.org_id", "=", "linked.org_id")
        .onRef("connection.id", "=", "linked.connection_id"),
    )
    .select(["connection.id", "connection.name", "linked.subject", "linked.created_at"])
    .select("linked.last_sign_in_at")
    .where((eb) => allOf(eb, { "linked.org_id": orgId, "linked.user_id": id }))
    .orderBy("linked.created_at")
    .orderBy("linked.connection_id")
    .execute();
  const members = { subject: "subject", linkedAt: "created_at", lastSignInAt: "last_sign_in_at" };
  return rows.map((row) => ({ connection: { id: row.id, name: row.name }, ...named(row, members) }));
}

export async function readConsents(db: Db, member: Member): Promise<Row[]> {
  const members = { scopes: "scope", grantedAt: "granted_at", takenBackAt: "revoked_at" } as const;
  const read = (condition: RawBuilder<unknown>) =>
    readRowsOfApplications(db, member, "consent", "granted_at", members, condition);
  // Active and revoked consents have an index each.
  return [...(await read(sql`owned.revoked_at is null`)), ...(await read(sql`owned.revoked_at is not null`))];
}

/** @param members the column of each */
export const named = (row: Row, members: Readonly<Record<string, string>>): Row =>
  Object.fromEntries(
    Object.entries(members).map(([member, column]) => [member, readable(column, row[column])]),
  );

const JSON_COLUMNS: readonly string[] = ["amr", "attributes", "groups", "profile", "settings"];

/** A value as the export shows it: times as ISO 8601. */
function readable(column: string, value: unknown): unknown {
  if (value === null) return null;
  if (column.endsWith("_at")) return new Date(Number(value)).toISOString();
  if (JSON_COLUMNS.includes(column)) return JSON.parse(String(value));
  if (column === "scope") return String(value).split(" ");
  return column === "backed_up" ? value === 1 : value;
}

/** Emails, without their content. */
export async function readMails(db: Db, orgId: string, email: string): Promise<Row[]> {
  const rows = await db
    .selectFrom("outgoing_mail")
    .select(["template", "locale", "created_at", "sent_at"])
    .where((eb) => allOf(eb, { org_id: orgId, recipient: email }))
    .orderBy("created_at")
    .execute();
  const members = { kind: "template", language: "locale", writtenAt: "created_at", sentAt: "sent_at" };
  return rows.map((row) => named(row, members));
}
