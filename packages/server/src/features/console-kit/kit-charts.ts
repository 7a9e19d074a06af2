/** Samples: charts with many values, of levels, with one value and with none; a ranking. */
import { card } from "../../html/components/card.ts";
import { type Series, trend } from "../../html/components/charts/chart.ts";
import { chartCard, sumOf } from "../../html/components/charts/chart-card.ts";
import { ranking } from "../../html/components/charts/ranking.ts";
import { shares } from "../../html/components/charts/shares.ts";
import { formatDay, formatWeekdayAndDay } from "../../html/components/time-words.ts";
import { type Html, html } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { KIT } from "./kit-controls.ts";

const DAY_MS = 86_400_000;
const DAYS = 30;

/** The same at every look: a wave with quieter weekends. */
const wave = (height: number, shift: number): number[] =>
  Array.from({ length: DAYS }, (_, day) =>
    Math.round(height * (1 + 0.4 * Math.sin(day * 1.3 + shift)) * (day % 7 < 2 ? 0.3 : 1)),
  );

export function chartCards(messages: Messages, now: number): Html {
  const from = now - (now % DAY_MS) - (DAYS - 1) * DAY_MS;
  const days = Array.from({ length: DAYS }, (_, day) => from + day * DAY_MS);
  const { locale } = messages;
  const shared = {
    ...{ from, messages, range: messages.console.overview.range["30d"] },
    points: days.map(formatWeekdayAndDay(locale)),
    ticks: days.filter((_, day) => day % 5 === 0).map(formatDay(locale)),
  };
  const bars: Series[] = [
    { label: "Passkey", tone: "plain", counts: wave(40, 0) },
    { label: "Password and second factor", tone: "second", counts: wave(22, 1) },
    { label: "Password", tone: "third", counts: wave(14, 2) },
    { label: "Method not recorded", tone: "quiet", counts: wave(3, 3) },
    { label: "Failed", tone: "bad", counts: wave(4, 4) },
  ];
  const all = bars.slice(0, 4).reduce((sum, { counts }) => sum + sumOf(counts), 0);
  const one: Series[] = [
    { label: "Issued", tone: "plain", counts: days.map((_, day) => (day === 20 ? 1 : 0)) },
  ];
  const levels: Series[] = [
    { label: "Peak", tone: "plain", counts: wave(5, 0).map((level) => Math.round(level / 2)) },
  ];
  const none: Series[] = [{ label: "Peak", tone: "plain", counts: days.map(() => 0) }];
  return html`<div class="pair-of-cards">
${chartCard({
  ...{ id: "kit-bars", title: "Chart, bars", form: "bars", series: bars, ...shared },
  total: html`<span class="figure-value">${messages.format.number(all)}</span>${trend(all, all - 90, messages)}`,
})}${chartCard({ id: "kit-levels", title: "Chart, levels", form: "steps", series: levels, ...shared })}${chartCard({ id: "kit-one", title: "Chart, one value", form: "bars", series: one, ...shared })}${chartCard({ id: "kit-none", title: "Chart, nothing", form: "steps", series: none, ...shared })}${card(
  {
    id: "kit-ranking",
    title: "Ranking",
    body: ranking({
      entries: [
        { label: "Payroll", value: 5_936, id: "kit-payroll", uri: KIT },
        { label: "Staff directory for everybody at Northwind Cooperative", value: 2_371 },
      ],
      rest: { label: "Other applications", value: 853 },
      none: "Nothing in this period.",
      messages,
    }),
  },
)}${card({
  id: "kit-shares",
  title: "Shares",
  body: shares({
    parts: [
      { id: "kit-active", label: "Active", value: 212, tone: "good", uri: KIT },
      { id: "kit-expired", label: "Expired", value: 17, tone: "warn", uri: KIT },
      { id: "kit-revoked", label: "Revoked", value: 8, tone: "bad", uri: KIT },
    ],
    none: "No devices.",
    messages,
  }),
})}</div>
`;
}
