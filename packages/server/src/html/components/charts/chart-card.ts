/** A chart in a card: its total and trend, the drawing, and a legend with the figure of each series. */
import { type Content, type Html, html } from "../../html.ts";
import { card } from "../card.ts";
import { type ChartView, chart, chartLegend, type Series } from "./chart.ts";

export type ChartCard = Pick<ChartView, "form" | "series" | "points" | "ticks" | "messages"> & {
  id: string;
  title: string;
  /** In words. */
  range: string;
  /** The beginning of the first point, milliseconds. */
  from: number;
  /** Above the chart. */
  total?: Content;
  /** What the card is about, above all. */
  text?: Content;
  /** In place of the figure of each series. */
  legend?: Content;
};

export function chartCard({ id, title, range, from, total, text: about, legend, ...view }: ChartCard): Html {
  const { charts: text } = view.messages.console.overview;
  return card({
    id,
    title,
    text: about,
    body: [
      total && html`<p class="chart-total">${total}</p>`,
      chart({
        ...view,
        id: `${id}-chart`,
        title: `${title}, ${range}`,
        description: text.from({ at: from }),
        legend: legend ?? chartLegend(view.series.map((one) => ({ ...one, figure: figureOf(one, view) }))),
      }),
    ],
  });
}

/** Bars are summed; of levels the highest counts. */
function figureOf({ counts }: Series, { form, messages }: Pick<ChartView, "form" | "messages">): string {
  return messages.format.number(form === "bars" ? sumOf(counts) : Math.max(0, ...counts));
}

export const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
