import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import type { Schema } from "../../../db/schema.ts";
import type { User } from "../user.ts";

type Member = Pick<User, "orgId" | "homeOrgId" | "id">;

/** The account's row in the home organisation. */
export const readAccount = (db: Db, { homeOrgId, id }: Member) =>
  db
    .selectFrom("user_account")
    .select(["email", "email_verified_at", "username", "firstname", "surname", "phone", "locale"])
    .select(["password_changed_at", "created_at", "updated_at", "attributes"])
    .where((eb) => eb.and({ org_id: homeOrgId, id }))
    .executeTakeFirst();

export const readMemberships = (db: Db, { homeOrgId, id }: Member) =>
  db
    .selectFrom("membership")
    .innerJoin("organisation", "organisation.id", "membership.org_id")
    .select(["membership.org_id", "organisation.name", "membership.role", "membership.created_at"])
    .select(["membership.attributes", "membership.groups"])
    .where((eb) => eb.and({ "membership.home_org_id": homeOrgId, "membership.user_id": id }))
    .orderBy("membership.created_at")
    .orderBy("membership.org_id")
    .execute();

/** The tables with these columns. */
type TableWith<Columns> = {
  [Name in keyof Schema]: Schema[Name] extends Columns ? Name : never;
}[keyof Schema];

interface OfUser {
  org_id: string;
  user_id: string | null;
}

/** @param columns the first is the time that orders the rows */
async function readRows<Name extends TableWith<OfUser>, Column extends keyof Schema[Name] & string>(
  db: Db,
  table: Name,
  columns: readonly [Column, ...Column[]],
  { orgId, id }: Pick<Member, "orgId" | "id">,
): Promise<Array<Pick<Schema[Name], Column>>> {
  const { rows } = await sql<Pick<Schema[Name], Column>>`select ${refs(columns)} from ${sql.table(table)}
    where org_id = ${orgId} and user_id = ${id} order by ${sql.ref(columns[0])}`.execute(db);
  return rows;
}

/** The same for what an application has about the user, with the application's id and name. */
async function readWithApplication<
  Name extends TableWith<OfUser & { application_id: string }>,
  Column extends keyof Schema[Name] & string,
>(
  db: Db,
  table: Name,
  columns: readonly [Column, ...Column[]],
  { orgId, id }: Pick<Member, "orgId" | "id">,
  condition: RawBuilder<unknown> = sql`true`,
): Promise<Array<Pick<Schema[Name], Column> & { application_id: string; name: string }>> {
  const owned = columns.map((column) => `owned.${column}` as const);
  const { rows } = await sql<Pick<Schema[Name], Column> & { application_id: string; name: string }>`
    select owned.application_id, application.name, ${refs(owned)} from ${sql.table(table)} as owned
    join application on application.org_id = owned.org_id and application.id = owned.application_id
    where owned.org_id = ${orgId} and owned.user_id = ${id} and ${condition}
    order by ${sql.ref(`owned.${columns[0]}`)}`.execute(db);
  return rows;
}

const refs = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));

export async function readFactors(db: Db, { homeOrgId: orgId, id }: Member) {
  const account = { orgId, id };
  const passkeyColumns = ["created_at", "name", "last_used_at", "backed_up"] as const;
  const [totp] = await readRows(db, "totp_credential", ["created_at"], account);
  return {
    totp,
    passkeys: await readRows(db, "passkey", passkeyColumns, account),
    codes: await readRows(db, "recovery_code", ["created_at", "used_at"], account),
  };
}

export async function readBrowsers(db: Db, member: Member) {
  const browser = ["created_at", "user_agent", "address", "expires_at"] as const;
  return {
    sessions: await readRows(
      db,
      "browser_session",
      [...browser, "id", "amr", "last_seen_at", "ended_at"],
      member,
    ),
    remembered: await readRows(db, "remembered_device", [...browser, "last_used_at", "revoked_at"], member),
    known: await readRows(db, "known_browser", ["last_seen_at", "sign_ins", "expires_at"], member),
  };
}

/** What applications have about the user. */
export async function readApplications(db: Db, member: Member) {
  const token = ["created_at", "scope", "rotated_at", "expires_at", "revoked_at"] as const;
  const key = ["created_at", "kind", "address", "last_seen_at", "expires_at", "revoked_at"] as const;
  const consent = ["granted_at", "scope", "revoked_at"] as const;
  return {
    // Active and revoked consents have an index each.
    consents: [
      ...(await readWithApplication(db, "consent", consent, member, sql`owned.revoked_at is null`)),
      ...(await readWithApplication(db, "consent", consent, member, sql`owned.revoked_at is not null`)),
    ],
    tokens: await readWithApplication(db, "token_family", token, member),
    keys: await readWithApplication(db, "session_key", key, member),
    assigned: await readWithApplication(db, "application_user", ["assigned_at"], member),
    settings: await readWithApplication(db, "application_user_setting", ["updated_at", "settings"], member),
  };
}

/** Links and emails, without their content. */
export async function readMessages(db: Db, member: Member, email: string) {
  return {
    links: await readRows(db, "user_action", ["created_at", "type", "expires_at", "used_at"], member),
    mails: await db
      .selectFrom("outgoing_mail")
      .select(["template", "locale", "created_at", "sent_at"])
      .where((eb) => eb.and({ org_id: member.orgId, recipient: email }))
      .orderBy("created_at")
      .execute(),
  };
}
