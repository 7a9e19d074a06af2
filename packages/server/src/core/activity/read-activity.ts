import type { Db } from "../../db/open.ts";
import { sumActivity } from "./activity.store.ts";
import { DAY_MS, HOUR_MS, type StoredKind } from "./kinds.ts";

/** A quarter of a day begins at 0, 6, 12 or 18 o'clock, UTC. */
const steps = { hour: HOUR_MS, quarter: 6 * HOUR_MS, day: DAY_MS } as const;

export interface ActivitySeries<Kind extends StoredKind> {
  /** The beginning of each hour, quarter or day (UTC), milliseconds, oldest first. */
  readonly times: readonly number[];
  /** As many numbers of each kind; zero where nothing was counted. */
  readonly totals: Readonly<Record<Kind, readonly number[]>>;
}

export interface ActivityAsked<Kind extends StoredKind> {
  readonly kinds: readonly Kind[];
  /** Milliseconds; from the beginning of its hour, quarter or day on. */
  readonly from: number;
  /** Milliseconds; not itself. */
  readonly to: number;
  readonly by: keyof typeof steps;
}

/** What was counted in an organisation, up to the last flush. */
export async function readActivity<Kind extends StoredKind>(
  db: Db,
  orgId: string,
  { kinds, from, to, by }: ActivityAsked<Kind>,
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
