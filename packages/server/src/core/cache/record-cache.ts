/**
 * A small bounded cache of records that are read on every request and change seldom. It hears of changes through the
 * change feed; the time limit is only the safety net under it.
 */
import type { Clock } from "../clock.ts";

export interface RecordCacheOptions<T> {
  readonly capacity: number;
  readonly maxAgeMs: number;
  readonly clock: Clock;
  /** Undefined for a record that does not exist; absence is not cached, so that strangers cannot fill the cache. */
  load(orgId: string, id: string): Promise<T | undefined>;
}

export interface RecordCache<T> {
  get(orgId: string, id: string): Promise<T | undefined>;
  /** The record if it is here and fresh: no promise on the hot path. */
  peek(orgId: string, id: string): T | undefined;
  evictOrganisation(orgId: string): void;
  clear(): void;
}

interface Entry<T> {
  readonly record: T;
  readonly staleAt: number;
}

export function recordCache<T>(options: RecordCacheOptions<T>): RecordCache<T> {
  const entries = new Map<string, Entry<T>>();
  // A load that began before an eviction may hold the old record: it must not come back into the cache.
  let generation = 0;

  const peek = (orgId: string, id: string) => {
    const entry = entries.get(`${orgId}/${id}`);
    return entry && entry.staleAt > options.clock() ? entry.record : undefined;
  };

  const load = async (orgId: string, id: string) => {
    const began = generation;
    const record = await options.load(orgId, id);
    if (record === undefined || began !== generation) return record;
    const key = `${orgId}/${id}`;
    entries.delete(key);
    if (entries.size >= options.capacity) entries.delete(entries.keys().next().value as string);
    entries.set(key, { record, staleAt: options.clock() + options.maxAgeMs });
    return record;
  };

  return {
    peek,
    get: async (orgId, id) => peek(orgId, id) ?? load(orgId, id),
    evictOrganisation: (orgId) => {
      generation++;
      for (const key of entries.keys()) if (key.startsWith(`${orgId}/`)) entries.delete(key);
    },
    clear: () => {
      generation++;
      entries.clear();
    },
  };
}
