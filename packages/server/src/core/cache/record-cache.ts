/**
 * A bounded cache of records that every request reads and that rarely change. The change feed evicts; the time limit
 * is a safety net.
 */
import type { Change } from "../../db/change-feed.ts";
import type { Clock } from "../clock.ts";
import type { RecordDeps } from "../record-changes.ts";
import { byOrganisation } from "./by-organisation.ts";
import { cacheRequests } from "./cache-requests.ts";

export interface RecordCacheOptions<T> {
  /** For metrics. */
  readonly name: string;
  readonly capacity: number;
  readonly maxAgeMs: number;
  readonly clock: Clock;
  /** Undefined for a missing record; absence is not cached, so that unknown ids can't fill the cache. */
  load(orgId: string, id: string): Promise<T | undefined>;
}

export interface RecordCache<T> {
  get(orgId: string, id: string): Promise<T | undefined>;
  /** The cached record, if fresh: no promise on the hot path. */
  peek(orgId: string, id: string): T | undefined;
  evictOrganisation(orgId: string): void;
  clear(): void;
}

interface Entry<T> {
  readonly record: T;
  readonly staleAt: number;
}

export function recordCache<T>(options: RecordCacheOptions<T>): RecordCache<T> {
  const entries = byOrganisation<Entry<T>>(options.capacity);
  const loads = runningLoads();

  const [hits, misses] = [cacheRequests.at(options.name, "hit"), cacheRequests.at(options.name, "miss")];

  const peek = (orgId: string, id: string) => {
    const entry = entries.get(orgId, id);
    if (!entry || entry.staleAt <= options.clock()) return undefined;
    hits.value++;
    return entry.record;
  };

  const load = async (orgId: string, id: string) => {
    misses.value++;
    const running = loads.begin(orgId);
    try {
      const record = await options.load(orgId, id);
      if (record !== undefined && running.isCurrent)
        entries.set(orgId, id, { record, staleAt: options.clock() + options.maxAgeMs });
      return record;
    } finally {
      loads.end(orgId, running);
    }
  };

  return {
    peek,
    get: async (orgId, id) => peek(orgId, id) ?? load(orgId, id),
    evictOrganisation: (orgId) => {
      loads.outdate(orgId);
      entries.deleteOrganisation(orgId);
    },
    clear: () => {
      loads.outdateAll();
      entries.clear();
    },
  };
}

interface RunningLoad {
  isCurrent: boolean;
}

/**
 * A load that began before an eviction may return the old record, which must not be kept. That counts for the organisation alone:
 * among thousands somebody always changes something, and a cache that forgot everybody's loads for it would not fill.
 */
function runningLoads() {
  const organisations = new Map<string, Set<RunningLoad>>();
  const outdate = (orgId: string) => {
    for (const load of organisations.get(orgId) ?? []) load.isCurrent = false;
  };
  return {
    begin: (orgId: string): RunningLoad => {
      const load = { isCurrent: true };
      const others = organisations.get(orgId);
      if (others) others.add(load);
      else organisations.set(orgId, new Set([load]));
      return load;
    },
    end: (orgId: string, load: RunningLoad): void => {
      const others = organisations.get(orgId);
      others?.delete(load);
      if (others?.size === 0) organisations.delete(orgId);
    },
    outdate,
    outdateAll: () => {
      for (const orgId of organisations.keys()) outdate(orgId);
    },
  };
}

const MAX_AGE_MS = 30_000;

/** A cache from which changes of the topic evict their organisation's records. */
export function changeTrackingCache<T>(
  { changes, clock }: Pick<RecordDeps, "changes" | "clock">,
  topic: Change["topic"],
  options: Pick<RecordCacheOptions<T>, "capacity" | "load">,
): RecordCache<T> {
  const cache = recordCache<T>({ name: topic, ...options, clock, maxAgeMs: MAX_AGE_MS });
  changes.subscribe((change) => {
    if (change === "everything") cache.clear();
    else if (change.topic === topic) cache.evictOrganisation(change.orgId);
  });
  return cache;
}
