/** The list of audit events: the database filters, sorts and pages. */
import { sql } from "kysely";
import type { StoredEvent } from "../../../core/audit/audit.store.ts";
import { readEvents } from "../../../core/audit/search/search.store.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlField, type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

const text = (column: string): SqlField => ({ kind: "text", of: sql.ref(`audit_event.${column}`) });

/** `user:<id>` in two; what has no colon is a type alone. */
function eventFields(isOnPostgres: boolean): SqlFields {
  const place = sql.raw(isOnPostgres ? "strpos" : "instr");
  const colon = sql`${place}(audit_event.actor, ':')`;
  return {
    id: text("id"),
    at: { kind: "time", of: sql.ref("audit_event.at"), isNeverNull: true },
    action: text("action"),
    actorType: {
      kind: "text",
      of: sql`case when ${colon} = 0 then audit_event.actor else substr(audit_event.actor, 1, ${colon} - 1) end`,
    },
    actorId: {
      kind: "text",
      of: sql`case when ${colon} = 0 then null else substr(audit_event.actor, ${colon} + 1) end`,
    },
    targetId: text("target"),
    address: text("address"),
  };
}

/** Names and kinds, for the parameters of the list. */
export const auditEventFields: SqlFields = eventFields(false);

export async function listAuditPage(
  db: Db,
  orgId: string,
  list: ListRequest,
): Promise<ListPage<StoredEvent & { readonly sortValue: string | number }>> {
  const sqlOf = sqlList(db, list, eventFields(isPostgres(db)), sql.ref("audit_event.id"));
  const matching = () =>
    db.selectFrom("audit_event").where("audit_event.org_id", "=", orgId).where(sqlOf.matching);
  const places = await matching()
    .select("audit_event.id")
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const ids = places.map(({ id }) => id);
  const events = ids.length === 0 ? [] : await readEvents(db, orgId, ids);
  const byId = new Map(events.map((event) => [event.id, event]));
  const rows = places.flatMap(({ id, sortValue }) => {
    const event = byId.get(id);
    return event ? [{ ...event, sortValue }] : [];
  });
  return sqlPage(list, rows, () => countRows(db, matching().select("audit_event.id")));
}
