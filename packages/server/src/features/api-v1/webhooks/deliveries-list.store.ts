/** The list of a webhook's deliveries: the database filters, sorts and pages. */
import { sql } from "kysely";
import type { EventDelivery } from "../../../core/event-deliveries/target-kind.ts";
import { allOf } from "../../../db/conditions.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { toRecord } from "../../../db/records.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

export const deliveryFields = {
  id: { kind: "text", of: sql.ref("event_delivery.id") },
  type: { kind: "text", of: sql.ref("event_delivery.type") },
  state: { kind: "text", of: sql.ref("event_delivery.state") },
  timestamp: { kind: "time", of: sql.ref("event_delivery.at"), isNeverNull: true },
  attempts: { kind: "number", of: sql.ref("event_delivery.attempts"), isNeverNull: true },
  lastStatus: { kind: "number", of: sql.ref("event_delivery.last_status") },
  createdAt: { kind: "time", of: sql.ref("event_delivery.created_at"), isNeverNull: true },
  updatedAt: { kind: "time", of: sql.ref("event_delivery.updated_at"), isNeverNull: true },
} as const satisfies SqlFields;

export async function listDeliveryPage(
  db: Db,
  { orgId, targetId, state }: { orgId: string; targetId: string; state: string | undefined },
  list: ListRequest,
): Promise<ListPage<EventDelivery & { readonly sortValue: string | number }>> {
  const of = sqlList(db, list, deliveryFields, sql.ref("event_delivery.id"));
  const matching = () => {
    const all = db
      .selectFrom("event_delivery")
      .where((eb) => allOf(eb, { org_id: orgId, target_id: targetId }))
      .where(of.matching);
    return state === undefined ? all : all.where("state", "=", state);
  };
  const rows = await matching()
    .selectAll()
    .select(of.value.as("sortValue"))
    .where(of.within)
    .orderBy(of.value, of.direction)
    .orderBy(of.id, of.direction)
    .limit(of.limit)
    .execute();
  const shown = rows.map(({ sortValue, ...row }) => ({
    ...{ ...toRecord(row), state: row.state as EventDelivery["state"], sortValue },
  }));
  return sqlPage(list, shown, () => countRows(db, matching().select("event_delivery.id")));
}
