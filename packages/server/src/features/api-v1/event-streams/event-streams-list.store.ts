/** The list of an organisation's event streams: the database filters, sorts and pages. */
import { sql } from "kysely";
import type { EventStream } from "../../../core/event-streams/event-stream.ts";
import { toStream } from "../../../core/event-streams/event-streams.store.ts";
import { allOf } from "../../../db/conditions.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

export const streamFields = {
  id: { kind: "text", of: sql.ref("event_stream.id") },
  clientId: { kind: "text", of: sql.ref("event_stream.client_id") },
  status: { kind: "text", of: sql.ref("event_stream.status") },
  method: { kind: "text", of: sql.ref("event_stream.method") },
  createdAt: { kind: "time", of: sql.ref("event_stream.created_at"), isNeverNull: true },
  updatedAt: { kind: "time", of: sql.ref("event_stream.updated_at"), isNeverNull: true },
} as const satisfies SqlFields;

export async function listStreamPage(
  db: Db,
  orgId: string,
  list: ListRequest,
): Promise<ListPage<EventStream & { readonly sortValue: string | number }>> {
  const of = sqlList(db, list, streamFields, sql.ref("event_stream.id"));
  const matching = () =>
    db
      .selectFrom("event_stream")
      .where((eb) => allOf(eb, { org_id: orgId }))
      .where(of.matching);
  const rows = await matching()
    .selectAll()
    .select(of.value.as("sortValue"))
    .where(of.within)
    .orderBy(of.value, of.direction)
    .orderBy(of.id, of.direction)
    .limit(of.limit)
    .execute();
  const shown = rows.map(({ sortValue, ...row }) => ({ ...toStream(row), sortValue }));
  return sqlPage(list, shown, () => countRows(db, matching().select("event_stream.id")));
}
