/** Searches the agents of a pool, for its page. */
import { sql } from "kysely";
import { AGENT_SEEN_MS, type SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import { toAgent } from "../../../core/signing-pools/signing-agent.store.ts";
import { countRows, inListOrder, type KeysetPage, readPage } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { isNamed } from "../../../db/search-text.ts";
import type { AgentStatus } from "./pool-state.ts";

/** `atWork`: active agents first, then by the time of registration. */
export type AgentSort = "atWork" | "name" | "seen";

export interface AgentFilter {
  readonly poolId: string;
  /** Part of a name or an id; on SQLite case-insensitive for ASCII only. */
  readonly text?: string | undefined;
  readonly status?: AgentStatus | undefined;
  readonly now: number;
}

const orderColumns = {
  // As wide as a cursor's number can be, or PostgreSQL refuses to compare them.
  atWork: sql`cast(case when signing_agent.deactivated_at is null then 0 else 1 end as bigint)`,
  name: sql`lower(signing_agent.name)`,
  seen: sql`coalesce(signing_agent.last_seen_at, 0)`,
} as const;

export async function searchAgents(
  db: Db,
  orgId: string,
  { page, limit, ...filter }: AgentFilter & { page: KeysetPage & { sort: AgentSort }; limit: number },
): Promise<Array<SigningAgent & { readonly nameOrder: string }>> {
  const value = orderColumns[page.sort];
  const { within, direction } = readPage(page, { value, id: sql.ref("signing_agent.id") });
  const rows = await matching(db, orgId, filter)
    .selectAll("signing_agent")
    .select(orderColumns.name.$castTo<string>().as("name_order"))
    .where(within)
    .orderBy(value, direction)
    .orderBy("signing_agent.id", direction)
    .limit(limit)
    .execute();
  return inListOrder(page, rows).map(({ name_order: nameOrder, ...row }) => ({ ...toAgent(row), nameOrder }));
}

/** @param max counts no further */
export const countAgents = (
  db: Db,
  orgId: string,
  { max, ...filter }: AgentFilter & { max: number },
): Promise<number> => countRows(db, matching(db, orgId, filter).select("signing_agent.id").limit(max));

const matching = (db: Db, orgId: string, { poolId, text, status, now }: AgentFilter) =>
  db
    .selectFrom("signing_agent")
    .where("signing_agent.org_id", "=", orgId)
    .where("signing_agent.pool_id", "=", poolId)
    .$if(text !== undefined, (query) => query.where(isNamed("signing_agent", text ?? "")))
    .$if(status !== undefined, (query) => query.where(hasStatus(status ?? "live", now - AGENT_SEEN_MS)));

/** As `agentStatus` of pool-state.ts. */
function hasStatus(status: AgentStatus, since: number) {
  const conditions = {
    compromised: sql<boolean>`signing_agent.compromised_at is not null`,
    deactivated: sql<boolean>`signing_agent.compromised_at is null and signing_agent.deactivated_at is not null`,
    new: sql<boolean>`signing_agent.compromised_at is null and signing_agent.deactivated_at is null and signing_agent.last_seen_at is null`,
    live: sql<boolean>`signing_agent.compromised_at is null and signing_agent.deactivated_at is null and signing_agent.last_seen_at > ${since}`,
    away: sql<boolean>`signing_agent.compromised_at is null and signing_agent.deactivated_at is null and signing_agent.last_seen_at <= ${since}`,
  } as const satisfies Record<AgentStatus, unknown>;
  return conditions[status];
}
