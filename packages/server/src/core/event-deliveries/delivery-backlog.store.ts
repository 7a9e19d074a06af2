/** What waits for receivers of events, for metrics: counted up to a limit, from the index of what waits. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";

export interface DeliveryBacklog {
  readonly pending: number;
  /** Milliseconds; null when nothing waits. */
  readonly oldestAt: number | null;
}

/** Beyond so many it is only known that there are more. */
const MAX_COUNTED = 10_000;

/** Of all organisations, by the kind of the target. */
export async function findDeliveryBacklog(db: Db): Promise<ReadonlyMap<string, DeliveryBacklog>> {
  const { rows } = await sql<{ kind: string; pending: number; oldest_at: number | null }>`
    select event_target.kind as kind, count(*) as pending, min(waiting.created_at) as oldest_at
    from (select org_id, target_id, created_at from event_delivery
      where state = 'pending' limit ${MAX_COUNTED}) as waiting
    inner join event_target on event_target.org_id = waiting.org_id and event_target.id = waiting.target_id
    group by event_target.kind`.execute(db);
  return new Map(
    rows.map(({ kind, pending, oldest_at }) => [kind, { pending: Number(pending), oldestAt: oldest_at }]),
  );
}
