/** The lists of trusted TPM vendors and of allowed endorsement keys: the database filters, sorts and pages. */
import { sql } from "kysely";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { type RecordOf, toRecord } from "../../../db/records.ts";
import type { DeviceAllowedEkTable, DeviceRootTable } from "../../../db/tables/device-identity.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlField, type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

export type DeviceRoot = RecordOf<DeviceRootTable>;
export type AllowedEk = RecordOf<DeviceAllowedEkTable>;
type Sorted<R> = ListPage<R & { readonly id: string; readonly sortValue: string | number }>;

const text = (column: string): SqlField => ({ kind: "text", of: sql.ref(column) });
const time = (column: string): SqlField => ({ kind: "time", of: sql.ref(column), isNeverNull: true });
const shared = {
  createdBy: text("created_by"),
  createdAt: time("created_at"),
  updatedAt: time("created_at"),
};

export const rootFields: SqlFields = {
  ...{ id: text("fingerprint"), subject: text("subject"), notAfter: time("not_after") },
  ...shared,
};
export const ekFields: SqlFields = { id: text("ek_hash"), label: text("label"), ...shared };

const rootsOf = (db: Db, orgId: string) => db.selectFrom("device_root").where("org_id", "=", orgId);
const eksOf = (db: Db, orgId: string) => db.selectFrom("device_allowed_ek").where("org_id", "=", orgId);

export async function findRoot(db: Db, orgId: string, fingerprint: string): Promise<DeviceRoot | undefined> {
  const row = await rootsOf(db, orgId).selectAll().where("fingerprint", "=", fingerprint).executeTakeFirst();
  return row && toRecord(row);
}

export async function findAllowedEk(db: Db, orgId: string, ekHash: string): Promise<AllowedEk | undefined> {
  const row = await eksOf(db, orgId).selectAll().where("ek_hash", "=", ekHash).executeTakeFirst();
  return row && toRecord(row);
}

export async function listRootPage(db: Db, orgId: string, list: ListRequest): Promise<Sorted<DeviceRoot>> {
  const sqlOf = sqlList(db, list, rootFields, sql.ref("fingerprint"));
  const matching = () => rootsOf(db, orgId).where(sqlOf.matching);
  const rows = await matching()
    .selectAll()
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const shown = rows.map(({ sortValue, ...row }) => ({ ...toRecord(row), id: row.fingerprint, sortValue }));
  return sqlPage(list, shown, () => countRows(db, matching().select("fingerprint")));
}

export async function listEkPage(db: Db, orgId: string, list: ListRequest): Promise<Sorted<AllowedEk>> {
  const sqlOf = sqlList(db, list, ekFields, sql.ref("ek_hash"));
  const matching = () => eksOf(db, orgId).where(sqlOf.matching);
  const rows = await matching()
    .selectAll()
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const shown = rows.map(({ sortValue, ...row }) => ({ ...toRecord(row), id: row.ek_hash, sortValue }));
  return sqlPage(list, shown, () => countRows(db, matching().select("ek_hash")));
}
