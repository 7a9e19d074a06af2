/** The list of applications: the database filters, sorts and pages. */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { type Application, defaultSettings } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { optionalSettings } from "../../../core/applications/security-settings.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { isNamed } from "../../../db/search-text.ts";
import { jsonBoolean, jsonNumber, jsonText } from "../lists/json-member.store.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlField, type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

/** Settings that may be unset. */
const texts = [
  ...["description", "logoUri", "homepageUri", "jwksUri", "audience"],
  ...["backchannelLogoutUri", "requiredAcr", "signingPoolId"],
  ...optionalSettings,
];
const settings = sql.ref("application.settings");

/** Of a setting with a value in every record; an older one may not be stored yet. */
function valued(isOnPostgres: boolean, name: string, value: unknown): SqlField | undefined {
  if (typeof value === "boolean")
    return { kind: "boolean", is: jsonBoolean(isOnPostgres, settings, { name, absent: value }) };
  if (typeof value === "number")
    return {
      kind: "number",
      of: sql`coalesce(${jsonNumber(isOnPostgres, settings, name)}, ${sql.lit(value)})`,
    };
  if (typeof value !== "string") return undefined;
  return { kind: "text", of: sql`coalesce(${jsonText(isOnPostgres, settings, name)}, ${sql.lit(value)})` };
}

function applicationFields(isOnPostgres: boolean): SqlFields {
  const text = (name: string): [string, SqlField] => [
    name,
    { kind: "text", of: jsonText(isOnPostgres, settings, name) },
  ];
  const defaults = Object.entries(defaultSettings("confidential")).flatMap(([name, value]) => {
    const field = valued(isOnPostgres, name, value);
    return field ? [[name, field] as const] : [];
  });
  const asks = jsonBoolean(isOnPostgres, settings, { name: "requireConsent", absent: true });
  const mode = jsonText(isOnPostgres, settings, "consentMode");
  return {
    id: { kind: "text", of: sql.ref("application.id") },
    clientId: { kind: "text", of: sql.ref("application.id") },
    name: { kind: "text", of: sql.ref("application.name") },
    clientType: { kind: "text", of: sql.ref("application.client_type") },
    ...Object.fromEntries([...texts.map(text), ...defaults]),
    // As `consentModeOf` reads it.
    consentMode: {
      kind: "text",
      of: sql`case when not (${asks}) then 'preauthorized' when ${mode} = 'organisation' then 'organisation' else 'user' end`,
    },
    enabled: { kind: "boolean", is: sql<SqlBool>`application.disabled_at is null` },
    sharedBy: { kind: "text", of: sql.ref("application.home_org_id") },
    createdAt: { kind: "time", of: sql.ref("application.created_at"), isNeverNull: true },
    updatedAt: { kind: "time", of: sql.ref("application.updated_at"), isNeverNull: true },
  };
}

/** Names and kinds, for the parameters of the list. */
export const applicationListFields: SqlFields = applicationFields(false);

export async function listApplicationPage(
  db: Db,
  orgId: string,
  list: ListRequest,
): Promise<ListPage<Application & { readonly sortValue: string | number }>> {
  const sqlOf = sqlList(db, list, applicationFields(isPostgres(db)), sql.ref("application.id"));
  const matching = () =>
    db
      .selectFrom("application")
      .where("application.org_id", "=", orgId)
      .where("application.source", "<>", "metadata-document")
      .where(sqlOf.matching)
      .where(mentions(list.search ?? ""));
  const places = await matching()
    .select("application.id")
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const found = await Promise.all(places.map(({ id }) => findApplication(db, orgId, id)));
  const rows = places.flatMap(({ sortValue }, at) => {
    const application = found[at];
    return application ? [{ ...application, sortValue }] : [];
  });
  return sqlPage(list, rows, () => countRows(db, matching().select("application.id")));
}

/** Each word is part of the name, or of the id. */
function mentions(text: string): RawBuilder<SqlBool> {
  const words = text.split(/\s+/u).filter((word) => word !== "");
  const all = words.slice(0, MAX_WORDS).map((word) => isNamed("application", word));
  return all.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`(${sql.join(all, sql` and `)})`;
}

const MAX_WORDS = 6;
