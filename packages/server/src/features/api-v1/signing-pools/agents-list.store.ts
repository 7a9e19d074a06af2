/** The list of signing agents: the database filters, sorts and pages. */
import { sql } from "kysely";
import { listKeysByAgent } from "../../../core/signing-pools/agent-key.store.ts";
import { toAgent } from "../../../core/signing-pools/signing-agent.store.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";
import type { KeyedAgent } from "./agent-record.ts";

const text = (column: string) => ({ kind: "text", of: sql.ref(column) }) as const;
const time = (column: string) => ({ kind: "time", of: sql.ref(column) }) as const;

export const agentFields: SqlFields = {
  ...{ id: text("id"), poolId: text("pool_id"), name: text("name") },
  state: {
    kind: "text",
    of: sql`case when compromised_at is not null then 'compromised' when deactivated_at is not null then 'deactivated' else 'active' end`,
  },
  ...{ lastSeenAt: time("last_seen_at"), deactivatedAt: time("deactivated_at") },
  compromisedAt: time("compromised_at"),
  createdBy: text("created_by"),
  createdAt: { kind: "time", of: sql.ref("created_at"), isNeverNull: true },
};

export async function listAgentPage(
  db: Db,
  orgId: string,
  list: ListRequest,
): Promise<ListPage<KeyedAgent & { readonly sortValue: string | number }>> {
  const sqlOf = sqlList(db, list, agentFields, sql.ref("id"));
  const matching = () => db.selectFrom("signing_agent").where("org_id", "=", orgId).where(sqlOf.matching);
  const rows = await matching()
    .selectAll()
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const ids = rows.map(({ id }) => id);
  const keys = await listKeysByAgent(db, orgId, ids);
  const agents = rows.map(({ sortValue, ...row }) => ({
    ...toAgent(row),
    ...{ keys: keys.get(row.id) ?? [], sortValue },
  }));
  return sqlPage(list, agents, () => countRows(db, matching().select("id")));
}
