/** The time range of charts: chosen by links, the same on every page. */

import type { ActivityRange, ActivitySeries } from "../core/activity/activity.store.ts";
import { readActivity } from "../core/activity/activity.store.ts";
import { DAY_MS, HOUR_MS, type StoredKind } from "../core/activity/kinds.ts";
import type { Db } from "../db/open.ts";
import {
  formatDay,
  formatDayAndHour,
  formatHour,
  formatWeekday,
  formatWeekdayAndDay,
} from "../html/components/time-words.ts";
import { type Html, html, linkAddress } from "../html/html.ts";
import type { Messages } from "../html/messages/messages.ts";

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

const ranges = {
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

const rangeNames = Object.keys(ranges) as RangeName[];

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

/** The points of its charts. */
export const pointsOf = (name: RangeName, now: number): { from: number; step: number; points: number } => ({
  from: rangeTimes(name, now).from,
  step: ranges[name].step,
  points: ranges[name].points,
});

/** The same time before, as long as the present one has lasted until now: whole hours. */
export function timesBefore(name: RangeName, now: number): { from: number; to: number } {
  const { from } = rangeTimes(name, now);
  const length = ranges[name].points * ranges[name].step;
  return { from: from - length, to: now - (now % HOUR_MS) + HOUR_MS - length };
}

export interface ChartTimes {
  /** The beginning of the first point, milliseconds. */
  readonly from: number;
  /** Each point in words, and the labels below the chart. */
  readonly points: readonly string[];
  readonly ticks: readonly string[];
}

const timesIn = (range: RangeName, times: readonly number[], locale: string) => {
  const { tickEvery, tick, point } = ranges[range];
  return {
    points: times.map(point(locale)),
    ticks: times.filter((_, index) => index % tickEvery === 0).map(tick(locale)),
  };
};

/** For charts of what is not counted by the hour. */
export function chartTimes(range: RangeName, now: number, locale: string): ChartTimes {
  const { from, step, points } = pointsOf(range, now);
  const times = Array.from({ length: points }, (_, point) => from + point * step);
  return { from, ...timesIn(range, times, locale) };
}

/** What charts of a range show. */
export async function readCharts<Kind extends StoredKind>(
  db: Db,
  orgId: string,
  { range, kinds, now, locale }: { range: RangeName; kinds: readonly Kind[]; now: number; locale: string },
): Promise<ChartTimes & Pick<ActivitySeries<Kind>, "totals">> {
  const { by } = ranges[range];
  const { from, to } = rangeTimes(range, now);
  const { times, totals } = await readActivity(db, orgId, { kinds, from, to, by });
  return { from, ...timesIn(range, times, locale), totals };
}

/** @param uri of a page with this query */
export function rangeLinks(current: RangeName, uri: (query: string) => string, messages: Messages): Html {
  const { range: words } = messages.console.overview;
  const links = rangeNames.map(
    (name) =>
      html`<a id="range-${name}" href="${linkAddress(uri(rangeQuery(name)))}"${name === current && html` aria-current="true"`}>${words[name]}</a>`,
  );
  return html`<nav class="views" id="chart-range" aria-label="${words.label}">${links}</nav>
`;
}
