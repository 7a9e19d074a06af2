/** Counts the waiting requests of pools. */
import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";

/** Pending requests by pool; pools without any are left out. */
export async function waitingOfPools(
  db: Db,
  orgId: string,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom("signing_request")
    .select((eb) => ["pool_id", eb.fn.countAll<number | string>().as("count")])
    .where("org_id", "=", orgId)
    // Spelled as in the partial index.
    .where(sql<boolean>`ended_at is null and state <> 'signed'`)
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .groupBy("pool_id")
    .execute();
  return new Map(rows.map(({ pool_id, count }) => [pool_id, Number(count)]));
}
