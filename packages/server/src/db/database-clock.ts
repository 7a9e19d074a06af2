/**
 * The database's time, shared by all nodes. It is measured periodically and extrapolated by the monotonic clock, so
 * that reading it is free and clock jumps don't matter.
 */
import { sql } from "kysely";
import type { Database } from "./open.ts";

export interface DatabaseClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Measures again. @throws when the database doesn't respond; the previous offset stays */
  measure(): Promise<void>;
  close(): void;
}

/** Clocks drift by a second a day at worst: half a millisecond in this time. */
const MEASURED_EVERY_MS = 30_000;

/** SQLite uses the machine's time. */
export async function databaseClock(database: Database): Promise<DatabaseClock> {
  if (database.kind === "sqlite") return { now: Date.now, measure: async () => {}, close: () => {} };
  let offset = 0;
  const measure = async () => {
    const asked = performance.now();
    const { rows } = await sql<{ at: number }>`
      select (extract(epoch from clock_timestamp()) * 1000)::bigint as at`.execute(database.query);
    const answered = performance.now();
    const [row] = rows;
    if (row) offset = row.at - (asked + answered) / 2;
  };
  await measure();
  const timer = setInterval(() => void measure().catch(() => {}), MEASURED_EVERY_MS);
  timer.unref();
  return {
    now: () => Math.floor(performance.now() + offset),
    measure,
    close: () => clearInterval(timer),
  };
}
