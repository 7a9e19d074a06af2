/** The time range of the charts. */

import type { ActivityRange } from "../../../core/activity/activity.store.ts";
import { DAY_MS, HOUR_MS } from "../../../core/activity/kinds.ts";
import {
  formatDay,
  formatDayAndHour,
  formatHour,
  formatWeekday,
  formatWeekdayAndDay,
} from "../../../html/components/time-words.ts";

interface Range {
  readonly by: ActivityRange<"tokens">["by"];
  readonly step: number;
  readonly points: number;
  /** One label below the chart for so many points. */
  readonly tickEvery: number;
  readonly tick: (locale: string) => (at: number) => string;
  readonly point: (locale: string) => (at: number) => string;
}

const QUARTER_MS = 6 * HOUR_MS;

export const ranges = {
  "24h": { by: "hour", step: HOUR_MS, points: 24, tickEvery: 6, tick: formatHour, point: formatDayAndHour },
  "7d": {
    by: "quarter",
    step: QUARTER_MS,
    points: 28,
    tickEvery: 4,
    tick: formatWeekday,
    point: formatDayAndHour,
  },
  "30d": { by: "day", step: DAY_MS, points: 30, tickEvery: 5, tick: formatDay, point: formatWeekdayAndDay },
  "90d": { by: "day", step: DAY_MS, points: 90, tickEvery: 15, tick: formatDay, point: formatWeekdayAndDay },
} as const satisfies Record<string, Range>;

export type RangeName = keyof typeof ranges;

export const rangeNames = Object.keys(ranges) as RangeName[];

const isRange = (text: string): text is RangeName => Object.hasOwn(ranges, text);

/** A week by default. */
export const readRange = (text: string | undefined): RangeName =>
  text !== undefined && isRange(text) ? text : "7d";

export const rangeQuery = (name: RangeName): string => (name === "7d" ? "" : `?range=${name}`);

/** From the beginning of the first point to the end of the last one; a week is seven whole days. */
export function rangeTimes(name: RangeName, now: number): { from: number; to: number } {
  const { step, points } = ranges[name];
  const whole = name === "7d" ? DAY_MS : step;
  const to = now - (now % whole) + whole;
  return { from: to - points * step, to };
}
