/** Signing requests that are open, and the agents that could sign them, for metrics. */
import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";

/** Beyond so many it is only known that there are more. */
const MAX_COUNTED = 10_000;

/** Of all organisations, by state. */
export async function countOpenRequests(db: Db, now: number): Promise<Array<readonly [string, number]>> {
  const { rows } = await sql<{ state: string; open: number }>`select state, count(*) as open
    from (select state, expires_at from signing_request
      where ended_at is null and state <> 'signed' limit ${MAX_COUNTED}) as requests
    where expires_at > ${now} group by state`.execute(db);
  return rows.map(({ state, open }) => [state, Number(open)] as const);
}

/** @param since those last seen before are not connected */
export async function countConnectedAgents(db: Db, since: number): Promise<number> {
  const row = await db
    .selectFrom("signing_agent")
    .select((eb) => eb.fn.countAll<number>().as("connected"))
    .where("deactivated_at", "is", null)
    .where("last_seen_at", ">", since)
    .executeTakeFirst();
  return Number(row?.connected ?? 0);
}
