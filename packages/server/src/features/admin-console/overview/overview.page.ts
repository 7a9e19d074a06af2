/** The overview: figures, charts, attention, newest events. */

import { ofMethod, signInMethods } from "../../../core/activity/kinds.ts";
import {
  type DevicesByState,
  deviceStates,
  MAX_DEVICES,
} from "../../../core/devices/devices-by-state.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { type Series, trend } from "../../../html/components/charts/chart.ts";
import { chartCard, sumOf } from "../../../html/components/charts/chart-card.ts";
import { type Ranked, ranking } from "../../../html/components/charts/ranking.ts";
import { shares } from "../../../html/components/charts/shares.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { emptyState } from "../../../html/components/empty-state.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import { type ChartTimes, type RangeName, rangeLinks } from "../../../page-kit/activity-range.ts";
import type { DisplayedEvent } from "../../../page-kit/audit-events/display-events.ts";
import { attentionCard } from "./attention.page.ts";
import type { Attention } from "./attention.ts";
import { type Figures, MAX_COUNTED } from "./overview.store.ts";

export type OverviewView = ConsoleFrame & {
  figures: Figures & { agents: { agents: number; live: number } | undefined };
  devices: DevicesByState["now"];
  devicesUri: string;
  range: RangeName;
  charts: OverviewCharts;
  attention: readonly Attention[];
  /** Newest first. */
  events: readonly DisplayedEvent[];
  isNew: boolean;
};

/** Compared with the time before. */
export const comparedKinds = ["sign-ins", "failed-sign-ins", "tokens", "refused-tokens"] as const;

export const chartKinds = [...comparedKinds, ...signInMethods.map(ofMethod), "agents"] as const;

export type OverviewCharts = ChartTimes & {
  totals: Readonly<Record<(typeof chartKinds)[number], readonly number[]>>;
  before: Readonly<Record<(typeof comparedKinds)[number], number>>;
  /** With most tokens, most first; without a name when it was deleted. */
  applications: ReadonlyArray<{ id: string; name: string | undefined; counts: readonly number[] }>;
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
${applicationsCard(view)}${devicesCard(view)}${view.figures.agents && agentsChart(view)}</div>
`,
      events(view),
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
  const { charts: text, activity: title } = view.messages.console.overview;
  const { totals } = view.charts;
  const refused: Series = { label: text.refused, tone: "bad", counts: totals["refused-tokens"] };
  return html`<section class="activity" aria-labelledby="activity-title">
<div class="bar"><h2 id="activity-title">${title}</h2>
${rangeLinks(view.range, view.consoleUri, view.messages)}</div>
<div class="pair-of-cards">
${countsCard(view, {
  kind: "sign-ins",
  title: text.signIns,
  series: [...methodSeries(view), { label: text.failed, tone: "bad", counts: totals["failed-sign-ins"] }],
})}${countsCard(view, {
  kind: "tokens",
  title: text.tokens,
  series: [{ label: text.issued, tone: "plain", counts: totals.tokens }, refused],
})}</div>
</section>
`;
}

const methodTones = {
  ...({ passkey: "plain", "password-and-factor": "second", password: "third" } as const),
  ...({ email: "fourth", connection: "fifth" } as const),
};

/** Sign-ins that were counted before their methods were stand apart. */
function methodSeries({ charts: { totals }, messages }: OverviewView): Series[] {
  const { charts: text } = messages.console.overview;
  const methods = signInMethods
    .map((method): Series & { readonly isAlways: boolean } => ({
      label: text.methods[method],
      tone: methodTones[method],
      counts: totals[ofMethod(method)],
      isAlways: method !== "email" && method !== "connection",
    }))
    // Many organisations have neither.
    .filter(({ isAlways, counts }) => isAlways || counts.some((count) => count > 0));
  const others = totals["sign-ins"].map((total, at) =>
    Math.max(0, total - methods.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0)),
  );
  const rest: Series = { label: text.otherMethods, tone: "quiet", counts: others };
  return others.some((count) => count > 0) ? [...methods, rest] : methods;
}

function countsCard(
  view: OverviewView,
  { kind, ...shown }: { kind: "sign-ins" | "tokens"; title: string; series: readonly Series[] },
): Html {
  const { totals, before } = view.charts;
  const all = sumOf(totals[kind]);
  const { messages } = view;
  return chartCard({
    ...{ id: kind, form: "bars", ...shown, ...timesOf(view) },
    total: html`<span class="figure-value">${messages.format.number(all)}</span>${trend(all, before[kind], messages)}`,
  });
}

const timesOf = ({ charts: { from, points, ticks }, range, messages }: OverviewView) => ({
  ...{ from, points, ticks, messages },
  range: messages.console.overview.range[range],
});

function agentsChart(view: OverviewView): Html {
  const { charts: text } = view.messages.console.overview;
  const series: Series[] = [{ label: text.agentsAtOnce, tone: "plain", counts: view.charts.totals.agents }];
  return chartCard({ id: "agents", title: text.agents, form: "steps", series, ...timesOf(view) });
}

const applicationTones = ["plain", "second", "third", "fourth", "fifth"] as const;

/** The applications with most tokens over time, and below their sums: these are the chart's legend. */
function applicationsCard(view: OverviewView): Html {
  const { charts, consoleUri, messages } = view;
  const { charts: text } = messages.console.overview;
  const { applications, totals } = charts;
  const busiest = applications.map(({ id, name, counts }, index): Series & Ranked => ({
    label: name ?? text.deletedApplication,
    tone: applicationTones[index] ?? "quiet",
    counts,
    value: sumOf(counts),
    ...(name === undefined ? {} : { id: `busy-${id}`, uri: consoleUri(`/applications/${id}`) }),
  }));
  // Tokens that were counted before their applications were are others, too.
  const others = totals.tokens.map((total, at) =>
    Math.max(0, total - busiest.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0)),
  );
  const rest = {
    label: text.otherApplications,
    tone: "quiet",
    counts: others,
    value: sumOf(others),
  } as const;
  const all = rest.value > 0 ? [...busiest, rest] : busiest;
  const list = ranking({ entries: busiest, rest, none: text.nothing, messages });
  const shared = { id: "tokens-by-application", title: text.byApplication };
  if (all.length === 0) return card({ ...shared, body: list });
  return chartCard({ ...shared, form: "bars", series: all, legend: list, ...timesOf(view) });
}

const deviceTones = { active: "good", expired: "warn", revoked: "bad" } as const;

/** As they are now; their own page draws them over time. Without devices there is nothing to draw. */
function devicesCard({ devices, devicesUri, messages }: OverviewView): Content {
  const { charts: text } = messages.console.overview;
  const { states } = messages.devices.list;
  const parts = deviceStates.map((state) => ({
    ...{ id: `devices-${state}`, label: states[state], value: devices[state], tone: deviceTones[state] },
    uri: `${devicesUri}?state=${state}`,
  }));
  const all = sumOf(parts.map(({ value }) => value));
  if (all === 0) return undefined;
  const overTime = html`<a class="card-link" id="devices-over-time" href="${linkAddress(`${devicesUri}#devices-by-state`)}">${text.overTime}</a>`;
  return card({
    id: "devices-by-state",
    title: text.devices,
    text: all >= MAX_DEVICES ? text.newestDevices({ count: MAX_DEVICES }) : undefined,
    actions: overTime,
    body: shares({ parts, none: text.nothing, messages }),
  });
}

function events({ events: newest, consoleUri, messages }: OverviewView): Html {
  const { events: text } = messages.console.overview;
  const { organisation: itself } = messages.console.auditLog.kinds;
  const item = ({ event: { id, at }, who, what, target }: DisplayedEvent) => {
    const uri = consoleUri(`/audit-log/${id}`);
    return html`<li><a class="event-what" id="event-${id}" href="${linkAddress(uri)}">${what}${target && !target.isCode && target.text !== itself && html`: <bdi>${target.text}</bdi>`}</a>
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
