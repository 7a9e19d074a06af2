/** Audit events that are not chained yet, for metrics. */
import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";

const MAX_COUNTED = 10_000;

/** Of all organisations; beyond 10,000 it is only known that there are more. */
export async function countAllUnchained(db: Db): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`select count(*) as waiting
    from (select id from audit_event where seq is null limit ${MAX_COUNTED}) as events`.execute(db);
  return Number(rows[0]?.waiting ?? 0);
}
