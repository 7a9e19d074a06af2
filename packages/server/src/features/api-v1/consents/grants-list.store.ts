/** The lists of consents and pre-authorizations: the database filters, sorts and pages. */
import { type RawBuilder, sql } from "kysely";
import type { Consent } from "../../../core/consents/consent.ts";
import { findConsentRecord, findPreauthorization } from "../../../core/consents/consents.store.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlField, type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

const text = (column: string): SqlField => ({ kind: "text", of: sql.ref(column) });
const time = (of: RawBuilder<unknown>): SqlField => ({
  kind: "time",
  of,
  isNeverNull: true,
});

export const consentFields: SqlFields = {
  id: text("id"),
  kind: text("kind"),
  clientId: text("application_id"),
  userId: text("user_id"),
  grantedBy: text("granted_by"),
  grantedAt: time(sql.ref("granted_at")),
  revokedAt: { kind: "time", of: sql.ref("revoked_at") },
  createdAt: time(sql`coalesce(created_at, granted_at)`),
  updatedAt: time(sql`coalesce(revoked_at, granted_at)`),
};

export const preauthorizationFields: SqlFields = {
  id: text("id"),
  clientId: text("application_id"),
  createdBy: text("created_by"),
  createdAt: time(sql.ref("created_at")),
  updatedAt: time(sql.ref("created_at")),
};

type Placed = Consent & { readonly sortValue: string | number };

/** Revoked ones too. */
export const listConsentPage = (db: Db, orgId: string, list: ListRequest): Promise<ListPage<Placed>> =>
  listGrants(db, orgId, list, { table: "consent", fields: consentFields, find: findConsentRecord });

export const listPreauthorizationPage = (
  db: Db,
  orgId: string,
  list: ListRequest,
): Promise<ListPage<Placed>> =>
  listGrants(db, orgId, list, {
    table: "preauthorization",
    fields: preauthorizationFields,
    find: findPreauthorization,
  });

interface Source {
  readonly table: "consent" | "preauthorization";
  readonly fields: SqlFields;
  find(db: Db, key: { orgId: string; id: string }): Promise<Consent | undefined>;
}

async function listGrants(
  db: Db,
  orgId: string,
  list: ListRequest,
  { table, fields, find }: Source,
): Promise<ListPage<Placed>> {
  const sqlOf = sqlList(db, list, fields, sql.ref("id"));
  const matching = () => db.selectFrom(table).where("org_id", "=", orgId).where(sqlOf.matching);
  const places = await matching()
    .select("id")
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const found = await Promise.all(places.map(({ id }) => find(db, { orgId, id })));
  const rows = places.flatMap(({ sortValue }, at) => {
    const grant = found[at];
    return grant ? [{ ...grant, sortValue }] : [];
  });
  return sqlPage(list, rows, () => countRows(db, matching().select("id")));
}
