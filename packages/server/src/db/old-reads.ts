/**
 * Reads that may be old by a second: console lists, the search of the audit log, exports. Never what decides a request. From a replica
 * where there is one that has all that the reader may know of; whatever fails there is asked of the primary.
 */
import { setTimeout as delay } from "node:timers/promises";
import { counter } from "../telemetry/families.ts";
import { isDatabaseUnavailable } from "./database-errors.ts";
import type { Database, Db } from "./open.ts";
import type { LogPosition } from "./postgres/write-ahead-log.ts";

const reads = counter(
  {
    name: "signet_replica_reads_total",
    help: "Reads that may be old by a second, by the server that has answered; of services with a replica",
  },
  ["server"],
);

/** What a reader has changed: everything until a position, or something whose position nobody knows. */
export type Seen = LogPosition | "unknown";

export type OldReader = <T>(work: (database: Database) => Promise<T>) => Promise<T>;

/** What reads one thing after the other, from wherever it is told. */
export type ReadFrom = <T>(work: (database: Pick<Database, "query">) => Promise<T>) => Promise<T>;

/** Reads from this one alone. */
export const readFrom =
  (query: Db): ReadFrom =>
  (work) =>
    work({ query });

/**
 * For one answer, however many reads it has. Once at the primary it stays there: a replica would take what was read back.
 * @returns what reads; `work` may be run again, and writes nothing
 */
export function oldReader(database: Database, seen?: Seen): OldReader {
  const { replica } = database;
  if (!replica) return (work) => work(database);
  let old = seen === "unknown" ? undefined : replica.upTo(seen);
  return async (work) => {
    if (old) {
      try {
        const found = await work({ ...database, query: old, replica: undefined });
        reads.at("replica").value++;
        return found;
      } catch (error) {
        old = undefined;
        if (isDatabaseUnavailable(error)) replica.distrust();
      }
    }
    reads.at("primary").value++;
    return work(database);
  };
}

const PAUSE_MS = 50;

/** For a command, which has looked at no replica yet: waits until it has all that is there now, and not for longer. */
export async function oldReaderOfNow(database: Database, withinMs: number): Promise<OldReader> {
  const { replica } = database;
  if (!replica) return oldReader(database);
  const until = performance.now() + withinMs;
  const since = await replica.position();
  for (;;) {
    await replica.look();
    if (replica.upTo(since) !== undefined || replica.state() === "other") break;
    if (performance.now() > until) break;
    await delay(PAUSE_MS);
  }
  return oldReader(database, since);
}
