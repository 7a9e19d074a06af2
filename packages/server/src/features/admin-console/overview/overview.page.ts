/** The overview: figures, charts, attention, newest events. */

import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { chart, chartFigures, type Series } from "../../../html/components/charts/chart.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { emptyState } from "../../../html/components/empty-state.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { DisplayedEvent } from "../audit-log/display-events.ts";
import { attentionCard } from "./attention.page.ts";
import type { Attention } from "./attention.ts";
import { type Figures, MAX_COUNTED } from "./overview.store.ts";
import { type RangeName, rangeNames, rangeQuery } from "./range.ts";

export type OverviewView = ConsoleFrame & {
  figures: Figures & { agents: { agents: number; live: number } | undefined };
  devicesUri: string;
  range: RangeName;
  charts: OverviewCharts;
  attention: readonly Attention[];
  /** Newest first. */
  events: readonly DisplayedEvent[];
  isNew: boolean;
};

export const chartKinds = ["sign-ins", "failed-sign-ins", "tokens", "refused-tokens", "agents"] as const;

export type OverviewCharts = {
  /** The beginning of the first point, milliseconds. */
  from: number;
  points: readonly string[];
  ticks: readonly string[];
  totals: Readonly<Record<(typeof chartKinds)[number], readonly number[]>>;
};

export function overviewPage(view: OverviewView): Html {
  const { overview, frame } = view.messages.console;
  return consoleLayout({
    ...view,
    title: frame.pages.overview,
    summary: overview.summary({ organisation: view.organisation.name }),
    breadcrumbs: [],
    body: [
      view.isNew && firstSteps(view),
      figures(view),
      attentionCard(view.attention, view.consoleUri, view.messages),
      activity(view),
      html`<div class="pair-of-cards">
${view.figures.agents && agentsChart(view)}${events(view)}</div>
`,
    ],
  });
}

function figures({ figures: counted, devicesUri, consoleUri, messages }: OverviewView): Html {
  const { figures: text } = messages.console.overview;
  const { number } = messages.format;
  const figure = (name: keyof typeof counted, uri: string, value: string, note?: string) =>
    html`<a id="figure-${name}" href="${linkAddress(uri)}"><span class="figure-name">${text[name]}</span>
<span class="figure-value">${value}</span>${note !== undefined && html`<span class="figure-note">${note}</span>`}</a>
`;
  const count = (total: number) =>
    total > MAX_COUNTED ? text.moreThan({ count: MAX_COUNTED }) : number(total);
  const { users, sessions, applications, devices, agents } = counted;
  return html`<section aria-label="${text.title}"><div class="figures">
${[
  figure("users", consoleUri("/users"), count(users)),
  figure("sessions", consoleUri("/users"), count(sessions)),
  figure("applications", consoleUri("/applications"), count(applications)),
  figure("devices", devicesUri, count(devices)),
  agents &&
    figure("agents", consoleUri("/pools"), number(agents.live), text.ofAgents({ count: agents.agents })),
]}</div></section>
`;
}

function activity(view: OverviewView): Content {
  const { charts: text, range: words } = view.messages.console.overview;
  const { totals } = view.charts;
  const links = rangeNames.map(
    (name) =>
      html`<a id="range-${name}" href="${linkAddress(view.consoleUri(rangeQuery(name)))}"${name === view.range && html` aria-current="true"`}>${words[name]}</a>`,
  );
  return html`<section class="activity" aria-label="${words.label}">
<nav class="views" aria-label="${words.label}">${links}</nav>
<div class="pair-of-cards">
${chartCard(view, "sign-ins", text.signIns, [
  { label: text.succeeded, tone: "plain", counts: totals["sign-ins"] },
  { label: text.failed, tone: "bad", counts: totals["failed-sign-ins"] },
])}${chartCard(view, "tokens", text.tokens, [
  { label: text.issued, tone: "plain", counts: totals.tokens },
  { label: text.refused, tone: "bad", counts: totals["refused-tokens"] },
])}</div>
</section>
`;
}

function agentsChart(view: OverviewView): Html {
  const { charts: text } = view.messages.console.overview;
  const { agents } = view.charts.totals;
  const series: Series[] = [{ label: text.agentsAtOnce, tone: "plain", counts: agents }];
  return chartCard(view, "agents", text.agents, series, "steps");
}

function chartCard(
  view: OverviewView,
  id: string,
  title: string,
  series: readonly Series[],
  form: "bars" | "steps" = "bars",
): Html {
  const { charts: text, range: words } = view.messages.console.overview;
  const { from, points, ticks } = view.charts;
  return card({
    id,
    title,
    body: [
      chartFigures(series.map((one) => ({ ...one, figure: chartTotal(one, form, view.messages) }))),
      chart({
        id: `${id}-chart`,
        title: `${title}, ${words[view.range]}`,
        description: text.from({ at: from }),
        ...{ form, series, points, ticks },
        messages: view.messages,
      }),
    ],
  });
}

function chartTotal({ counts }: Series, form: "bars" | "steps", { format }: Messages): string {
  const total = form === "bars" ? counts.reduce((sum, count) => sum + count, 0) : Math.max(0, ...counts);
  return format.number(total);
}

function events({ events: newest, consoleUri, messages }: OverviewView): Html {
  const { events: text } = messages.console.overview;
  const item = ({ event: { id, at }, who, what, target }: DisplayedEvent) => {
    const uri = consoleUri(`/audit-log/${id}`);
    return html`<li><a class="event-what" id="event-${id}" href="${linkAddress(uri)}">${what}${target && !target.isCode && html`: <bdi>${target.text}</bdi>`}</a>
<span class="quiet event-who"><bdi>${who}</bdi></span><span class="quiet event-when">${relativeTime(at, messages.format.minute)}</span></li>
`;
  };
  return card({
    id: "events",
    title: text.title,
    actions: html`<a class="card-link" id="events-all" href="${linkAddress(consoleUri("/audit-log"))}">${text.all}</a>`,
    body:
      newest.length === 0
        ? emptyState({ title: text.none, text: text.noneText })
        : html`<ul class="events">${newest.map(item)}</ul>
`,
  });
}

function firstSteps({ consoleUri, messages }: OverviewView): Html {
  const { first } = messages.console.overview;
  const step = (title: string, text: string, button: Parameters<typeof buttonLink>[0]) =>
    html`<li><p class="item-name">${title}</p>
<p class="quiet">${text}</p>
${buttonLink(button)}</li>
`;
  const quickstart = { id: "first-quickstart", uri: consoleUri("/quickstart"), label: first.quickstart };
  const invite = { id: "first-invite", uri: consoleUri("/users/new"), label: first.invite };
  return card({
    id: "first-steps",
    title: first.title,
    text: first.text,
    body: html`<ol class="first-steps">
${step(first.application, first.applicationText, { ...quickstart, kind: "primary" as const })}${step(first.users, first.usersText, invite)}</ol>
`,
  });
}
