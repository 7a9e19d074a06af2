import { chart, chartFigures, type Series } from "../../../html/components/charts/chart.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { buttonLink, card, emptyState, moment } from "../../../html/components/parts.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type AttentionUris, attentionCard } from "./attention.page.ts";
import type { Attention } from "./attention.ts";
import { type Figures, MAX_COUNTED } from "./overview.store.ts";
import { type RangeName, rangeNames } from "./range.ts";

export type OverviewView = ConsoleFrame & {
  organisationName: string;
  figures: Figures & { agents: { agents: number; live: number } | undefined };
  uris: AttentionUris & {
    users: string;
    applications: string;
    devices: string;
    pools: string;
    auditLog: string;
    quickstart: string;
    invite: string;
    range(name: RangeName): string;
  };
  range: RangeName;
  charts: OverviewCharts;
  attention: readonly Attention[];
  /** Newest first. */
  events: ReadonlyArray<{
    id: string;
    at: number;
    who: string;
    what: string;
    on: string | undefined;
    uri: string;
  }>;
  isNew: boolean;
};

export type OverviewCharts = {
  /** The beginning of the first point, milliseconds. */
  from: number;
  points: readonly string[];
  ticks: readonly string[];
  signIns: readonly number[];
  failedSignIns: readonly number[];
  tokens: readonly number[];
  refusedTokens: readonly number[];
  /** Undefined without pools. */
  agents?: readonly number[] | undefined;
};

export function overviewPage(view: OverviewView): Html {
  const { overview, frame } = view.messages.console;
  return consoleLayout({
    ...view,
    title: frame.pages.overview,
    summary: overview.summary({ organisation: view.organisationName }),
    breadcrumbs: [],
    body: [
      view.isNew && firstSteps(view),
      figures(view),
      attentionCard(view.attention, view.uris, view.messages),
      activity(view),
      html`<div class="pair-of-cards">
${agentsChart(view)}${events(view)}</div>
`,
    ],
  });
}

function figures({ figures: counted, uris, messages }: OverviewView): Html {
  const { figures: text } = messages.console.overview;
  const { number } = messages.format;
  const figure = (name: keyof typeof counted, uri: string, value: string, note?: string) =>
    html`<a id="figure-${name}" href="${linkAddress(uri)}"><span class="figure-name">${text[name]}</span>
<span class="figure-value">${value}</span>${note !== undefined && html`<span class="figure-note">${note}</span>`}</a>
`;
  const count = (total: number) =>
    total > MAX_COUNTED ? text.moreThan({ count: MAX_COUNTED }) : number(total);
  return html`<section aria-label="${text.title}"><div class="figures">
${figure("users", uris.users, count(counted.users))}${figure("sessions", uris.users, count(counted.sessions))}${figure(
  "applications",
  uris.applications,
  count(counted.applications),
)}${figure("devices", uris.devices, count(counted.devices))}${
  counted.agents &&
  figure("agents", uris.pools, number(counted.agents.live), text.ofAgents({ count: counted.agents.agents }))
}</div></section>
`;
}

function activity(view: OverviewView): Content {
  const { charts: text, range: words } = view.messages.console.overview;
  const { charts: data } = view;
  const links = rangeNames.map(
    (name) =>
      html`<a id="range-${name}" href="${linkAddress(view.uris.range(name))}"${name === view.range && html` aria-current="true"`}>${words[name]}</a>`,
  );
  return html`<section class="activity" aria-label="${words.label}">
<nav class="views" aria-label="${words.label}">${links}</nav>
<div class="pair-of-cards">
${chartCard(view, "sign-ins", text.signIns, [
  { label: text.succeeded, tone: "plain", counts: data.signIns },
  { label: text.failed, tone: "bad", counts: data.failedSignIns },
])}${chartCard(view, "tokens", text.tokens, [
  { label: text.issued, tone: "plain", counts: data.tokens },
  { label: text.refused, tone: "bad", counts: data.refusedTokens },
])}</div>
</section>
`;
}

function agentsChart(view: OverviewView): Content {
  const { charts: text } = view.messages.console.overview;
  const { agents } = view.charts;
  if (!agents) return undefined;
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

function events({ events: newest, uris, messages }: OverviewView): Html {
  const { events: text } = messages.console.overview;
  return card({
    id: "events",
    title: text.title,
    actions: html`<a class="card-link" id="events-all" href="${linkAddress(uris.auditLog)}">${text.all}</a>`,
    body:
      newest.length === 0
        ? emptyState({ title: text.none, text: text.noneText })
        : html`<ul class="events">${newest.map(
            ({
              id,
              at,
              who,
              what,
              on,
              uri,
            }) => html`<li><a class="event-what" id="event-${id}" href="${linkAddress(uri)}">${what}${on !== undefined && html`: <bdi>${on}</bdi>`}</a>
<span class="quiet event-who"><bdi>${who}</bdi></span><span class="quiet event-when">${moment(at, messages.format.minute)}</span></li>
`,
          )}</ul>
`,
  });
}

function firstSteps({ uris, messages }: OverviewView): Html {
  const { first } = messages.console.overview;
  const step = (
    title: string,
    text: string,
    button: { id: string; uri: string; label: string },
    isPrimary: boolean,
  ) =>
    html`<li><p class="item-name">${title}</p>
<p class="quiet">${text}</p>
${buttonLink({ ...button, isPrimary })}</li>
`;
  return card({
    id: "first-steps",
    title: first.title,
    text: first.text,
    body: html`<ol class="first-steps">
${step(first.application, first.applicationText, { id: "first-quickstart", uri: uris.quickstart, label: first.quickstart }, true)}${step(
  first.users,
  first.usersText,
  { id: "first-invite", uri: uris.invite, label: first.invite },
  false,
)}</ol>
`,
  });
}
