/** The list of organisations, without the operators' own: the database filters, sorts and pages. */
import { sql } from "kysely";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

export const organisationListFields: SqlFields = {
  id: { kind: "text", of: sql.ref("organisation.id") },
  name: { kind: "text", of: sql.ref("organisation.name") },
  state: {
    kind: "text",
    of: sql`case when organisation.delete_after is not null then 'deleting'
      when organisation.disabled_at is not null then 'suspended' else 'active' end`,
  },
  deletesAt: { kind: "time", of: sql.ref("organisation.delete_after") },
  createdAt: { kind: "time", of: sql.ref("organisation.created_at"), isNeverNull: true },
};

/** @param operators the operators' own */
export async function listOrganisationPage(
  db: Db,
  operators: string,
  list: ListRequest,
): Promise<ListPage<Organisation & { readonly sortValue: string | number }>> {
  const sqlOf = sqlList(db, list, organisationListFields, sql.ref("organisation.id"));
  const matching = () =>
    db.selectFrom("organisation").where("organisation.id", "<>", operators).where(sqlOf.matching);
  const places = await matching()
    .select("organisation.id")
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const found = await Promise.all(places.map(({ id }) => findOrganisation(db, id)));
  const rows = places.flatMap(({ sortValue }, at) => {
    const organisation = found[at];
    return organisation ? [{ ...organisation, sortValue }] : [];
  });
  return sqlPage(list, rows, () => countRows(db, matching().select("organisation.id")));
}
