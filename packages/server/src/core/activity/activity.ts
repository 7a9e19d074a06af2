/**
 * Counts activity per organisation. Counts are kept in memory and added to the database periodically, so that no
 * token request waits for statistics and the nodes sum up.
 */
import type { Clock } from "../clock.ts";
import { oneAtATime } from "../one-at-a-time.ts";
import type { ActivityRow } from "./activity.store.ts";
import { type CountActivity, HOUR_MS, type StoredKind } from "./kinds.ts";

export interface Activity {
  readonly count: CountActivity;
  /** Writes the counts to the database. @throws its errors; what could not be written is retried at the next flush */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface ActivityDeps {
  readonly clock: Clock;
  /** Adds them to the stored counts, all or none. */
  write(rows: readonly ActivityRow[]): Promise<void>;
  onError(error: unknown): void;
}

const FLUSH_INTERVAL_MS = 10_000;

/** Counters of one organisation between two flushes: of applications there may be ten thousand. */
const MAX_KINDS = 500;

/** Rows of one statement: each has four parameters, and SQLite allows 32,766. */
const BATCH = 2_048;

interface Cell {
  total: number;
}

/** @param deps.capacity counters in memory: beyond it new ones are dropped until there is room */
export function createActivity(deps: ActivityDeps & { capacity?: number }): Activity {
  const { clock, capacity = 100_000 } = deps;
  let hour = hourOf(clock());
  let size = 0;
  let counts = new Map<string, Map<StoredKind, Cell>>();
  /** Of past flushes and hours, not written yet. */
  const waiting = new Map<string, ActivityRow>();

  const addCounter = (orgId: string, kind: StoredKind) => {
    const kinds = counts.get(orgId) ?? new Map<StoredKind, Cell>();
    if (size + waiting.size >= capacity || kinds.size >= MAX_KINDS) return;
    size++;
    counts.set(orgId, kinds.set(kind, { total: 1 }));
  };

  const moveToWaiting = () => {
    for (const [orgId, kinds] of counts)
      for (const [kind, { total }] of kinds) {
        const key = `${orgId} ${kind} ${hour}`;
        waiting.set(key, added({ orgId, kind, hour, total }, waiting.get(key)));
      }
    counts = new Map();
    size = 0;
  };
  const writeAll = async () => {
    moveToWaiting();
    const entries = [...waiting];
    for (let at = 0; at < entries.length; at += BATCH) {
      const batch = entries.slice(at, at + BATCH);
      // Removed first: counts added during the write belong to the next one.
      for (const [key] of batch) waiting.delete(key);
      await deps.write(batch.map(([, row]) => row)).catch((error: unknown) => {
        for (const [key, row] of batch) waiting.set(key, added(row, waiting.get(key)));
        throw error;
      });
    }
  };
  const flush = oneAtATime(writeAll);
  const timer = setInterval(() => flush().catch(deps.onError), FLUSH_INTERVAL_MS);
  timer.unref();

  return {
    count: (orgId, kind) => {
      const now = clock();
      if (now < hour || now >= hour + HOUR_MS) {
        moveToWaiting();
        hour = hourOf(now);
      }
      const cell = counts.get(orgId)?.get(kind);
      if (cell) cell.total++;
      else addCounter(orgId, kind);
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
