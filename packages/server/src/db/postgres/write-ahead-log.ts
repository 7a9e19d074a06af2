/** Positions in PostgreSQL's write-ahead log: how far a primary has written, and how much of it a replica has replayed. */
import { type Kysely, sql } from "kysely";
import type { Schema } from "../schema.ts";

/** Bytes since the log's beginning; a cluster's only ever grows. */
export type LogPosition = bigint;

export interface LogEnd {
  /** Of which cluster, and which database of it: a standby has the same. */
  readonly database: string;
  readonly position: LogPosition;
}

const identity = sql<string>`system_identifier || ' ' ||
  (select oid::text from pg_database where datname = current_database())`;

/** Of a primary. The insert position, as with `synchronous_commit=off` a commit is written later. */
export async function logEndOf(db: Kysely<Schema>): Promise<LogEnd> {
  const { rows } = await sql<{ database: string; position: string }>`
    select ${identity} as database, pg_current_wal_insert_lsn()::text as position
    from pg_control_system()`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("PostgreSQL tells no position");
  return { database: row.database, position: readPosition(row.position) };
}

export interface Replayed {
  readonly database: string;
  /** Undefined for a server that replays nothing: it is a primary. */
  readonly position: LogPosition | undefined;
}

export async function replayedBy(db: Kysely<Schema>): Promise<Replayed> {
  const { rows } = await sql<{ database: string; position: string | null }>`
    select ${identity} as database,
      case when pg_is_in_recovery() then pg_last_wal_replay_lsn()::text end as position
    from pg_control_system()`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("PostgreSQL tells no position");
  return { database: row.database, position: row.position === null ? undefined : readPosition(row.position) };
}

/** @param text `16/B374D848` */
export function readPosition(text: string): LogPosition {
  const [high = "", low = ""] = text.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

const PAGE_BYTES = 8_192n;
/** The header of a page of the log, or of a segment's first. */
const HEADER_BYTES = new Set([24n, 40n]);

/** A primary names the place behind the header of a page that it has not begun, a replica the end of the page before. */
export const hasReached = (replayed: LogPosition, wanted: LogPosition): boolean =>
  replayed >= wanted || (replayed % PAGE_BYTES === 0n && HEADER_BYTES.has(wanted - replayed));
