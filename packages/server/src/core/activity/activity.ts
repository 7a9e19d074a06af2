/**
 * Counts what happens in each organisation. A token does not wait for its statistics: counts are held in memory and added
 * to the database now and then, so that the nodes of a service add up.
 */
import type { Clock } from "../clock.ts";
import type { ActivityRow } from "./activity.store.ts";
import { type CountActivity, HOUR_MS, type StoredKind } from "./kinds.ts";

export interface Activity {
  readonly count: CountActivity;
  /** Adds what was counted to the database. @throws its errors; what could not be written stays for the next time */
  flush(): Promise<void>;
  /** Flushes and stops. */
  close(): Promise<void>;
}

export interface ActivityDeps {
  readonly clock: Clock;
  /** Adds them to what the database has, all or none of them. */
  write(rows: readonly ActivityRow[]): Promise<void>;
  onError(error: unknown): void;
}

const EVERY_MS = 10_000;

/** Of one statement: each has four parameters, and SQLite takes 32,766. */
const BATCH = 2_048;

interface Cell {
  total: number;
}

/** @param deps.capacity of numbers in memory: what is new beyond it is not counted, until there is room again */
export function activityCounts(deps: ActivityDeps & { capacity?: number }): Activity {
  const { clock, capacity = 100_000 } = deps;
  let hour = hourOf(clock());
  let size = 0;
  let counts = new Map<string, Map<StoredKind, Cell>>();
  /** Counted, and not written yet. */
  const waiting = new Map<string, ActivityRow>();

  const begin = (orgId: string, kind: StoredKind) => {
    if (size + waiting.size >= capacity) return;
    size++;
    const kinds = counts.get(orgId) ?? new Map<StoredKind, Cell>();
    counts.set(orgId, kinds.set(kind, { total: 1 }));
  };
  const setAside = () => {
    for (const [orgId, kinds] of counts)
      for (const [kind, { total }] of kinds) {
        const key = `${orgId} ${kind} ${hour}`;
        waiting.set(key, { orgId, kind, hour, total: total + (waiting.get(key)?.total ?? 0) });
      }
    counts = new Map();
    size = 0;
  };
  const writeAll = async () => {
    setAside();
    const entries = [...waiting];
    for (let at = 0; at < entries.length; at += BATCH) {
      const batch = entries.slice(at, at + BATCH);
      // Taken out first: what is counted meanwhile is no part of it.
      for (const [key] of batch) waiting.delete(key);
      await deps.write(batch.map(([, row]) => row)).catch((error: unknown) => {
        for (const [key, row] of batch) waiting.set(key, added(row, waiting.get(key)));
        throw error;
      });
    }
  };
  const flush = oneAtATime(writeAll);
  const timer = setInterval(() => flush().catch(deps.onError), EVERY_MS);
  timer.unref();

  return {
    count: (orgId, kind) => {
      const now = clock();
      if (now < hour || now >= hour + HOUR_MS) {
        setAside();
        hour = hourOf(now);
      }
      const cell = counts.get(orgId)?.get(kind);
      if (cell) cell.total++;
      else begin(orgId, kind);
    },
    flush,
    close: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}

const hourOf = (now: number): number => now - (now % HOUR_MS);

const added = (row: ActivityRow, more: ActivityRow | undefined): ActivityRow =>
  more ? { ...row, total: row.total + more.total } : row;

/** A failure is for the one who asked. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    const now = last.then(work);
    last = now.catch(() => {});
    return now;
  };
}
