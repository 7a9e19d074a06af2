/** How many streams of security events there are, for metrics. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";

/** Beyond so many it is only known that there are more. */
const MAX_COUNTED = 10_000;

/** Of all organisations, by status. */
export async function countStreams(db: Db): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ status: string; streams: number }>`select status, count(*) as streams
    from (select status from event_stream limit ${MAX_COUNTED}) as streams group by status`.execute(db);
  return new Map(rows.map(({ status, streams }) => [status, Number(streams)]));
}
