/**
 * A small chart, drawn here as SVG: it needs no script and asks nobody. The drawing stretches with its card, the words stand
 * beside it as text of the page, and the numbers are there as a table.
 */
import { type Content, type Html, html } from "../../html.ts";
import type { Messages } from "../../messages/messages.ts";
import { table } from "../table.ts";
import { type Bar, type Box, highestStack, stackedBars, steppedLine, upperEdge } from "./chart-geometry.ts";

/** Colours of a series; `bad` is the colour of errors. */
export type SeriesTone = "plain" | "second" | "third" | "quiet" | "bad";

export type Series = { label: string; tone: SeriesTone; counts: readonly number[] };

export type ChartView = {
  id: string;
  title: string;
  description: string;
  /** `bars` are stacked; `steps` is for one series of levels. */
  form: "bars" | "steps";
  series: readonly Series[];
  /** Each hour or day in words, for the table and the tooltips. */
  points: readonly string[];
  /** In words, evenly spaced from the left edge. */
  ticks: readonly string[];
  /** Below the drawing. */
  legend?: Content;
  messages: Messages;
};

const BOX: Box = { width: 600, height: 120 };

export function chart(view: ChartView): Html {
  const { id, series, messages } = view;
  const { charts } = messages.console.overview;
  const { locale } = messages;
  const number = numberWords(locale);
  const stacks = view.points.map((_, index) => series.map(({ counts }) => counts[index] ?? 0));
  const compact = numberWords(locale, { notation: "compact" });
  const highest = highestStack(stacks);
  const top = upperEdge(highest);
  return html`<figure class="chart" id="${id}">
<div class="chart-plot">
<div class="chart-scale" aria-hidden="true"><span>${compact(top)}</span><span>${compact(top / 2)}</span><span>${compact(0)}</span></div>
<svg viewBox="0 0 ${BOX.width} ${BOX.height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-name" aria-describedby="${id}-about">
<title id="${id}-name">${view.title}</title>
<desc id="${id}-about">${view.description}</desc>
${[0, 0.5, 1].map((part) => html`<line class="chart-grid" x1="0" x2="${BOX.width}" y1="${part * BOX.height}" y2="${part * BOX.height}"/>`)}
${view.form === "bars" ? bars(stacks, series) : steps(series)}
${hovers(view, stacks)}</svg>
${highest === 0 && html`<p class="chart-nothing">${charts.nothing}</p>`}
<div class="chart-ticks" aria-hidden="true">${view.ticks.map((tick) => html`<span>${tick}</span>`)}</div>
</div>
${view.legend}<details class="chart-numbers"><summary>${charts.numbers}</summary>
${table({
  label: view.title,
  columns: [charts.time, ...series.map(({ label }) => label)],
  rows: view.points.map((point, index) => ({
    cells: [point, ...(stacks[index] ?? []).map((count) => number(count))],
  })),
  messages,
})}</details>
</figure>
`;
}

/** The bars of a series are one path: a third of the bytes of as many elements. */
function bars(stacks: ReadonlyArray<readonly number[]>, series: readonly Series[]): Content {
  const drawn = stackedBars(stacks, BOX);
  return series.map(({ tone }, index) => {
    const path = drawn.map((stack) => barPath(stack[index])).join("");
    return path !== "" && html`<path class="chart-${tone}" d="${path}"/>`;
  });
}

const barPath = (bar: Bar | undefined): string =>
  bar && bar.height > 0 ? `M${bar.x} ${bar.y}h${bar.width}v${bar.height}h-${bar.width}z` : "";

function steps(series: readonly Series[]): Content {
  return series.map(({ tone, counts }) => {
    const { line, area } = steppedLine(counts, BOX);
    return html`<path class="chart-area chart-${tone}" d="${area}"/><path class="chart-line chart-${tone}" d="${line}"/>`;
  });
}

/** The full height of each slot, so that small bars have a tooltip too. */
function hovers({ points, series, messages }: ChartView, stacks: ReadonlyArray<readonly number[]>): Content {
  const number = numberWords(messages.locale);
  const width = BOX.width / Math.max(1, points.length);
  const slots = points.map((point, index) => {
    const tooltip = series.map(({ label }, place) => `${label}: ${number(stacks[index]?.[place] ?? 0)}`);
    return html`<rect x="${Math.round(index * width * 100) / 100}" width="${Math.round(width * 100) / 100}" height="${BOX.height}"><title>${[point, ...tooltip].join("\n")}</title></rect>`;
  });
  return html`<g class="chart-hover">${slots}</g>`;
}

/** With the total of each series. */
export const chartLegend = (
  series: ReadonlyArray<{ label: string; tone: SeriesTone; figure: string }>,
): Html => html`<dl class="chart-legend">${series.map(
  ({ label, tone, figure }) =>
    html`<div><dt><span class="chart-swatch chart-${tone}"></span>${label}</dt><dd>${figure}</dd></div>
`,
)}</dl>
`;

/** How much more or less it is than in the time before; nothing where there was nothing. */
export function trend(
  now: number,
  before: number,
  { locale, console: { overview } }: Messages,
): Html | false {
  if (before === 0) return false;
  const { charts: text } = overview;
  const change = (now - before) / before;
  const percent = numberWords(locale, { style: "percent", maximumFractionDigits: change < 0.1 ? 1 : 0 })(
    Math.abs(change),
  );
  const words = change === 0 ? text.same : change > 0 ? text.more({ percent }) : text.less({ percent });
  return html`<span class="trend">${change !== 0 && html`<span aria-hidden="true">${change > 0 ? "↑" : "↓"}</span> `}${words}</span>`;
}

const numberWords = (locale: string, options: Intl.NumberFormatOptions = {}): ((count: number) => string) => {
  const format = new Intl.NumberFormat(locale, options);
  return (count) => format.format(count);
};
