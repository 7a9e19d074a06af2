/**
 * Which rows of the outbox are due, for fair turns. Steps through the index of waiting rows from one queue to the next: the
 * rows behind the first ones of a queue cost nothing, however many they are.
 */
import { type RawBuilder, sql } from "kysely";
import { hasCitus } from "../../db/distribution/has-citus.ts";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";
import type { OutboxRow, OutboxTable } from "./outbox.store.ts";

/** A row that is due. */
export interface DueRow extends OutboxRow {
  /** Which queue it is in, with the organisation's id. */
  readonly queue: string;
  /** Its place among the due rows of its organisation: 1 is the first. */
  readonly place: number;
  readonly nextAttemptAt: number;
}

export interface DueRowsQuery {
  readonly now: number;
  /** How many rows of an organisation, and of one of its queues, may be under way. */
  readonly limits: { readonly organisation: number; readonly queue: number };
  /** Organisations to leave out. */
  readonly full?: readonly string[];
}

/** How many due rows are looked at: at most this many organisations take turns at a time. */
const MAX_DUE = 500;

/**
 * Of each organisation and each queue the longest waiting, at most as many as may be under way; first rows of all organisations
 * before second ones.
 */
export async function findDueRows(db: Db, table: OutboxTable, query: DueRowsQuery): Promise<DueRow[]> {
  const statement = (await hasCitus(db)) ? dueRowsOfNodes : dueRows;
  return (await statement(db, table, query).execute(db)).rows;
}

/**
 * The same where the organisations are on several nodes, which step through no index together: each node numbers what waits on
 * it. What a long queue holds is read each time.
 */
export function dueRowsOfNodes(
  _db: Db,
  { name, deliveredAt, queueBy }: OutboxTable,
  { now, limits, full = [] }: DueRowsQuery,
): RawBuilder<DueRow> {
  const order = sql`order by next_attempt_at, id`;
  return sql<DueRow>`
    select org_id as "orgId", id, attempts, next_attempt_at as "nextAttemptAt",
      org_id || '/' || queue as queue, place
    from (
      select org_id, id, attempts, next_attempt_at, queue, row_number() over (partition by org_id ${order}) as place
      from (
        select org_id, id, attempts, next_attempt_at, ${sql.ref(queueBy)} as queue,
          row_number() over (partition by org_id, ${sql.ref(queueBy)} ${order}) as in_queue
        from ${sql.table(name)}
        where ${sql.ref(deliveredAt)} is null and failed_at is null and next_attempt_at <= ${now} ${exceptFull(full)}
      ) as numbered
      where in_queue <= ${limits.queue}
    ) as placed
    where place <= ${limits.organisation}
    order by place, next_attempt_at limit ${sql.lit(MAX_DUE)}`;
}

/** The statement, for tests of its plan. */
export function dueRows(
  db: Db,
  { name, deliveredAt, queueBy }: OutboxTable,
  { now, limits, full = [] }: DueRowsQuery,
): RawBuilder<DueRow> {
  const waiting = sql`${sql.table(name)} where ${sql.ref(deliveredAt)} is null and failed_at is null`;
  const key = sql.ref(queueBy);
  const first = sql`
    from ${waiting} and org_id = queues.org_id and ${key} = queues.queue and next_attempt_at <= ${now}
    order by next_attempt_at, id limit ${sql.lit(limits.queue)}`;
  // SQLite has no lateral joins; PostgreSQL would look for each row in each list.
  const firstOfEach = isPostgres(db)
    ? sql`cross join lateral (select org_id, id, attempts, next_attempt_at ${first}) as due`
    : sql`join ${sql.table(name)} as due on (due.org_id, due.id) in (select org_id, id ${first})`;
  return sql<DueRow>`
    with recursive organisations (org_id) as (
      select min(org_id) from ${waiting}
      union all
      select (select min(org_id) from ${waiting} and org_id > organisations.org_id)
      from organisations where org_id is not null),
    queues (org_id, queue) as (
      select org_id, (select min(${key}) from ${waiting} and org_id = organisations.org_id)
      from organisations where org_id is not null ${exceptFull(full)}
      union all
      select org_id, (select min(${key}) from ${waiting} and org_id = queues.org_id and ${key} > queues.queue)
      from queues where queue is not null),
    placed as (
      select due.org_id, due.id, due.attempts, due.next_attempt_at, queues.queue,
        row_number() over (partition by due.org_id order by due.next_attempt_at, due.id) as place
      from queues ${firstOfEach})
    select org_id as "orgId", id, attempts, next_attempt_at as "nextAttemptAt", org_id || '/' || queue as queue, place
    from placed where place <= ${limits.organisation}
    order by place, next_attempt_at limit ${sql.lit(MAX_DUE)}`;
}

const exceptFull = (full: readonly string[]) =>
  full.length === 0 ? sql`` : sql`and org_id not in (${sql.join([...full])})`;
