/**
 * A small chart, drawn here as SVG: it needs no script and asks nobody. The drawing stretches with its card, the words stand
 * beside it as text of the page, and the numbers are there as a table.
 */
import { type Content, type Html, html } from "../../html.ts";
import type { Messages } from "../../messages/messages.ts";
import { type Bar, type Box, highestStack, stackedBars, steppedLine, upperEdge } from "./chart-geometry.ts";

/** Colours of a series; `bad` is the colour of errors. */
export type SeriesTone = "plain" | "second" | "third" | "fourth" | "fifth" | "quiet" | "warn" | "bad";

export type Series = { label: string; tone: SeriesTone; counts: readonly number[] };

export type ChartView = {
  id: string;
  title: string;
  description: string;
  /** `bars` are stacked; `steps` is for one series of levels. */
  form: "bars" | "steps";
  series: readonly Series[];
  /** Each hour or day in words, for the table, from which a script shows those under the pointer. */
  points: readonly string[];
  /** In words, evenly spaced from the left edge. */
  ticks: readonly string[];
  /** Below the drawing. */
  legend?: Content;
  messages: Messages;
};

type Stacks = ReadonlyArray<readonly number[]>;

const BOX: Box = { width: 600, height: 120 };

export function chart(view: ChartView): Html {
  const { id, series, messages } = view;
  const { charts } = messages.console.overview;
  const { locale } = messages;
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
${view.form === "bars" ? bars(stacks, series) : steps(series)}</svg>
${highest === 0 && html`<p class="chart-nothing">${charts.nothing}</p>`}
<div class="chart-ticks" aria-hidden="true">${view.ticks.map((tick) => html`<span>${tick}</span>`)}</div>
</div>
${view.legend}<details class="chart-numbers"><summary>${charts.numbers}</summary>
${numbersTable(view, stacks)}</details>
</figure>
`;
}

/** The bars of a series are one path: a third of the bytes of as many elements. */
function bars(stacks: Stacks, series: readonly Series[]): Content {
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

/** A small one: it has few words, and is there for every point. */
function numbersTable({ title, points, series, messages }: ChartView, stacks: Stacks): Html {
  const { charts } = messages.console.overview;
  const number = numberWords(messages.locale);
  const row = (point: string, index: number) =>
    html`<tr><th scope="row">${point}</th>${(stacks[index] ?? []).map((count) => html`<td>${number(count)}</td>`)}</tr>
`;
  return html`<div class="chart-table" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr>${[charts.time, ...series.map(({ label }) => label)].map((label) => html`<th scope="col">${label}</th>`)}</tr></thead>
<tbody>
${points.map(row)}</tbody>
</table></div>
`;
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
export function trend(now: number, before: number, { console: { overview } }: Messages): Html | false {
  if (before === 0) return false;
  const { charts: text } = overview;
  const change = (now - before) / before;
  const share = Math.abs(change);
  const words = change === 0 ? text.same : change > 0 ? text.more({ share }) : text.less({ share });
  return html`<span class="trend">${change !== 0 && html`<span aria-hidden="true">${change > 0 ? "↑" : "↓"}</span> `}${words}</span>`;
}

const numberWords = (locale: string, options: Intl.NumberFormatOptions = {}): ((count: number) => string) => {
  const format = new Intl.NumberFormat(locale, options);
  return (count) => format.format(count);
};
