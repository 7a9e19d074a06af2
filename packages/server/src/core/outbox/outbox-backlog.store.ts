/** What waits in the outbox, for metrics: counted up to a limit, from the indexes of what is due. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";

export interface Backlog {
  readonly messages: number;
  /** Milliseconds; null when nothing waits. */
  readonly oldestAt: number | null;
}

/** Beyond so many it is only known that there are more. */
const MAX_COUNTED = 10_000;

/** Mails and logouts of all organisations that are neither delivered nor given up. */
export async function findOutboxBacklog(db: Db): Promise<Backlog> {
  const { rows } = await sql<{ messages: number; oldest_at: number | null }>`
    select count(*) as messages, min(created_at) as oldest_at from (
      select created_at from (select created_at from outgoing_mail
        where sent_at is null and failed_at is null limit ${MAX_COUNTED}) as mails
      union all
      select created_at from (select created_at from logout_delivery
        where delivered_at is null and failed_at is null limit ${MAX_COUNTED}) as logouts
    ) as waiting`.execute(db);
  const [row] = rows;
  return { messages: Number(row?.messages ?? 0), oldestAt: row?.oldest_at ?? null };
}
