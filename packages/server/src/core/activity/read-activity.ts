import type { Db } from "../../db/open.ts";
import { sumActivity } from "./activity.store.ts";
import { DAY_MS, HOUR_MS, type StoredKind } from "./kinds.ts";

/** Quarters of a day start at 0, 6, 12 and 18 UTC. */
const steps = { hour: HOUR_MS, quarter: 6 * HOUR_MS, day: DAY_MS } as const;

export interface ActivitySeries<Kind extends StoredKind> {
  /** The start of each hour, quarter or day (UTC), milliseconds, oldest first. */
  readonly times: readonly number[];
  /** One number per time; zero without activity. */
  readonly totals: Readonly<Record<Kind, readonly number[]>>;
}

export interface ActivityRange<Kind extends StoredKind> {
  readonly kinds: readonly Kind[];
  /** Milliseconds, rounded down to its hour, quarter or day. */
  readonly from: number;
  /** Milliseconds, exclusive. */
  readonly to: number;
  readonly by: keyof typeof steps;
}

/** Activity of an organisation up to the last flush. */
export async function readActivity<Kind extends StoredKind>(
  db: Db,
  orgId: string,
  { kinds, from, to, by }: ActivityRange<Kind>,
): Promise<ActivitySeries<Kind>> {
  const step = steps[by];
  const first = from - (from % step);
  const times: number[] = [];
  for (let at = first; at < to; at += step) times.push(at);
  const totals = Object.fromEntries(kinds.map((kind) => [kind, times.map(() => 0)])) as Record<
    Kind,
    number[]
  >;
  for (const { kind, at, total } of await sumActivity(db, { orgId, kinds, from: first, to, step })) {
    const place = (at - first) / step;
    totals[kind as Kind][place] = total;
  }
  return { times, totals };
}
