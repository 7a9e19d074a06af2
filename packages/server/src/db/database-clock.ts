/**
 * The database's time, which all nodes share whatever their own clocks say. It is asked now and then, and carried on
 * between by the time that has passed on this machine, so that reading it costs nothing and no jump of a clock moves it.
 */
import { sql } from "kysely";
import type { Database } from "./open.ts";

export interface DatabaseClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Asks the database once more. @throws when it does not answer; the time before is carried on */
  measure(): Promise<void>;
  close(): void;
}

/** Crystals differ by a second in a day at the worst: by half a millisecond in this time. */
const MEASURED_EVERY_MS = 30_000;

/** SQLite has no time but its machine's. */
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
