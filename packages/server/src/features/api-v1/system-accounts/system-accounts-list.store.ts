/** The list of system accounts: the database filters, sorts and pages. */
import { sql } from "kysely";
import {
  findSystemAccounts,
  listKeysByAccount,
} from "../../../core/system-accounts/system-accounts.store.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";
import type { KeyedAccount } from "./system-account-record.ts";

const text = (column: string) => ({ kind: "text", of: sql.ref(column) }) as const;
const time = (column: string) => ({ kind: "time", of: sql.ref(column), isNeverNull: true }) as const;

export const systemAccountFields: SqlFields = {
  ...{ id: text("id"), name: text("name"), applicationId: text("application_id") },
  administrator: { kind: "boolean", is: sql`administrator = 1` },
  requireStrictSignature: { kind: "boolean", is: sql`require_strict = 1` },
  allowEndUserAddress: { kind: "boolean", is: sql`allow_end_user_address = 1` },
  enabled: { kind: "boolean", is: sql`disabled_at is null` },
  createdBy: text("created_by"),
  ...{ createdAt: time("created_at"), updatedAt: time("updated_at") },
  lastUsedAt: { kind: "time", of: sql.ref("last_used_at") },
};

export async function listSystemAccountPage(
  db: Db,
  orgId: string,
  list: ListRequest,
): Promise<ListPage<KeyedAccount & { readonly sortValue: string | number }>> {
  const sqlOf = sqlList(db, list, systemAccountFields, sql.ref("id"));
  const matching = () => db.selectFrom("system_account").where("org_id", "=", orgId).where(sqlOf.matching);
  const places = await matching()
    .select("id")
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const ids = places.map(({ id }) => id);
  const accounts = await findSystemAccounts(db, orgId, ids);
  const keys = await listKeysByAccount(db, orgId, ids);
  const rows = places.flatMap(({ id, sortValue }) => {
    const account = accounts.get(id);
    return account ? [{ ...account, keys: keys.get(id) ?? [], sortValue }] : [];
  });
  return sqlPage(list, rows, () => countRows(db, matching().select("id")));
}
