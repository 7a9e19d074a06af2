/** The audit events of a time, in the order of their chain. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { auditActions } from "../audit/actions.ts";
import { type StoredEvent, toStoredEvent } from "../audit/audit.store.ts";

/** @param search.isWanted by action: of those that this version knows */
export async function matchingEvents(
  db: Db,
  orgId: string,
  search: {
    readonly from: number;
    readonly to: number;
    readonly limit: number;
    isWanted(action: string): boolean;
  },
): Promise<StoredEvent[]> {
  const actions = auditActions.filter(search.isWanted);
  if (actions.length === 0) return [];
  const rows = await db
    .selectFrom("audit_event")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("at", ">=", search.from)
    .where("at", "<", search.to)
    .where("seq", "is not", null)
    .where("action", "in", sql<string>`(${sql.join(actions.map((action) => sql.lit(action)))})`)
    .orderBy("at")
    .orderBy("id")
    .limit(search.limit)
    .execute();
  return rows.map(toStoredEvent);
}
