/**
 * Counts calls that are many, and mostly allowed: a hundredth of the limit is counted in the database at once, and used up in
 * memory. All nodes together never allow more than the limit. What a node has counted and not used by the end of the window
 * is lost to the others: each of them takes away a hundredth at most.
 */
import type { CoreDeps } from "../core-deps.ts";
import { countHit } from "./rate-limits.store.ts";
import { type Counted, counterOf } from "./rate-limits.ts";

const PORTIONS = 100;

export interface HitCount {
  /** Calls of this window that count, of every node, with what this one has not used yet taken off. */
  readonly hits: number;
  readonly endsAt: number;
}

interface Portion {
  /** As the database had them when this portion was counted. */
  readonly hits: number;
  readonly endsAt: number;
  unused: number;
}

export interface HitPortions {
  /** Counts a call, whatever comes of it. `hits` is above the limit's when it is to be refused. */
  count(deps: Pick<CoreDeps, "database" | "clock">, orgId: string, counted: Counted): Promise<HitCount>;
}

/** @param capacity subjects; of one that is dropped the rest of its portion is lost */
export function hitPortions(capacity = 10_000): HitPortions {
  const portions = new Map<string, Portion>();
  /** Calls that come meanwhile wait for the portion that is being counted. */
  const counting = new Map<string, Promise<void>>();
  const keep = (key: string, portion: Portion) => {
    portions.delete(key);
    if (portions.size >= capacity) portions.delete(portions.keys().next().value as string);
    portions.set(key, portion);
  };
  return {
    count: async (deps, orgId, counted) => {
      const { count: max } = counted.limit;
      const key = `${orgId} ${counted.limit.name} ${counted.subject}`;
      for (;;) {
        const portion = portions.get(key);
        if (portion && portion.endsAt > deps.clock()) {
          const { hits, endsAt } = portion;
          if (portion.unused > 0) return { hits: hits - --portion.unused, endsAt };
          // Nobody gives anything back before the window ends: there is nothing to ask the database.
          if (hits >= max) return { hits: max + 1, endsAt };
        }
        let running = counting.get(key);
        if (!running) {
          const taken = takePortion(deps, orgId, counted).then((next) => keep(key, next));
          running = taken.finally(() => counting.delete(key));
          counting.set(key, running);
        }
        await running;
      }
    },
  };
}

async function takePortion(
  { database, clock }: Pick<CoreDeps, "database" | "clock">,
  orgId: string,
  counted: Counted,
): Promise<Portion> {
  const { bucket, max, windowMs } = counterOf(orgId, counted);
  const size = Math.max(1, Math.floor(max / PORTIONS));
  const hit = { orgId, bucket, now: clock(), windowMs, by: size };
  const { hits, windowStartedAt } = await countHit(database.query, hit);
  // The last portion of a window may be smaller, and after it there is none.
  const allowed = Math.min(hits, max);
  return { hits: allowed, endsAt: windowStartedAt + windowMs, unused: Math.max(0, allowed - (hits - size)) };
}
