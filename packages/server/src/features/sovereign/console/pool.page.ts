/** The page of one signing pool: agents, activity, settings. */
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { applicationLinks } from "../../../html/components/application-links.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import type { Series } from "../../../html/components/charts/chart.ts";
import { chartCard } from "../../../html/components/charts/chart-card.ts";
import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { copyField, copyStatus } from "../../../html/components/copy-field.ts";
import { livePiece, liveStatus } from "../../../html/components/live.ts";
import { overflowMenu } from "../../../html/components/overflow-menu.ts";
import { lastChangeLine } from "../../../html/components/record-form.ts";
import { recordHeading, recordIcon } from "../../../html/components/record-heading.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { liveScript } from "../../../html/scripts.ts";
import { type ChartTimes, type RangeName, rangeLinks } from "../../../page-kit/activity-range.ts";
import type { RenderedList } from "../../../page-kit/list/list-view.ts";
import { doneNotice, endCard, endItems } from "../../../page-kit/record-pages.ts";
import type { PoolLoad } from "./pool-state.ts";
import { poolState, reloadLink } from "./pools.page.ts";

export type LoadedPool = SigningPool & PoolLoad;

/** Counts and peaks of a pool over a time. */
export type PoolCharts = ChartTimes & {
  range: RangeName;
  signed: readonly number[];
  failed: readonly number[];
  /** Peaks. */
  agents: readonly number[];
  waiting: readonly number[];
};

export type PoolView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    pool: LoadedPool;
    /** See agent-list.ts. */
    agents: RenderedList;
    issuer: string;
    jwksUri: string;
    discoveryUri: string;
    charts: PoolCharts;
    applications: ReadonlyArray<{ id: string; name: string }>;
    hasMoreApplications: boolean;
    lastChange: { who: string; at: number } | undefined;
    done: keyof Messages["console"]["pools"]["done"] | undefined;
  };

const ownUri = ({ pool, consoleUri }: Pick<PoolView, "pool" | "consoleUri">, rest = ""): string =>
  consoleUri(`/pools/${pool.id}${rest}`);

export function poolPage(view: PoolView): Html {
  const { pool, messages } = view;
  const { pools: text } = messages.console;
  const agentNew = { id: "agent-new", uri: ownUri(view, "/agents/new"), label: text.addAgent };
  return consoleLayout({
    ...view,
    scripts: [liveScript.path],
    title: pool.name,
    ...recordHeading(
      {
        name: pool.name,
        mark: recordIcon("pool"),
        facts: [html`<span id="pool-state">${poolState(pool.status, messages)}</span>`],
        id: { id: "pool-id", value: pool.id, label: text.poolId },
      },
      messages,
    ),
    actions: [
      buttonLink({ id: "pool-settings", uri: ownUri(view, "/settings"), label: text.settings }),
      // Without agents, their list has it.
      pool.disabledAt === null && !view.agents.isEmpty && buttonLink({ ...agentNew, kind: "primary" }),
      overflowMenu(endItems(ending(view), endTexts(view)), messages),
    ],
    notice: doneNotice({ ...view, record: pool, uriOf: (rest) => ownUri(view, rest) }, text.done),
    body: [
      card({
        id: "agents",
        title: text.agents,
        actions: reloadLink(ownUri(view), messages),
        body: [poolStatusPiece(view), view.agents.section],
      }),
      activity(view),
      applicationsCard(view),
      addressesCard(view),
      settingsCard(view),
      endCard(ending(view), endTexts(view)),
      lastChangeLine(view.lastChange, messages),
      copyStatus,
      liveStatus,
    ],
  });
}

/** Whether the pool signs and what it has to do, kept up to date. */
export function poolStatusPiece({
  pool,
  consoleUri,
  messages,
}: Pick<PoolView, "pool" | "consoleUri" | "messages">): Html {
  const { pools: text } = messages.console;
  return html`<p${livePiece(ownUri({ pool, consoleUri }, "/status"), [`${text.poolStatus[pool.status]}.`])} class="live-line">${poolState(pool.status, messages)} <span class="quiet">${text.liveOf({ count: pool.live, max: pool.agents })} · ${text.waitingNow({ count: pool.waiting })}</span></p>
`;
}

function activity(view: PoolView): Html {
  const { charts, messages } = view;
  const { pools: text, overview } = messages.console;
  const { charts: words } = overview;
  const { from, points, ticks } = charts;
  const shared = { from, points, ticks, messages, range: overview.range[charts.range] };
  const peak = (counts: readonly number[]): Series[] => [
    { label: words.agentsAtOnce, tone: "plain", counts },
  ];
  return html`<section class="activity" aria-labelledby="activity-title">
<div class="bar"><h2 id="activity-title">${overview.activity}</h2>
${rangeLinks(charts.range, (query) => ownUri(view, query), messages)}</div>
${chartCard({
  ...{ id: "signatures", title: text.signatures, form: "bars", ...shared },
  series: [
    { label: words.signed, tone: "plain", counts: charts.signed },
    { label: words.failed, tone: "bad", counts: charts.failed },
  ],
})}<div class="pair-of-cards">
${chartCard({ id: "agents-online", title: text.agentsOnline, form: "steps", series: peak(charts.agents), ...shared })}${chartCard(
  { id: "queue", title: text.queue, form: "steps", series: peak(charts.waiting), ...shared },
)}</div>
</section>
`;
}

function applicationsCard({ applications, hasMoreApplications, consoleUri, messages }: PoolView): Html {
  const { pools: text } = messages.console;
  const more = hasMoreApplications && html`<li class="quiet">${text.moreApplications}</li>`;
  return card({
    id: "pool-applications",
    title: text.applications,
    text: text.applicationsText,
    body:
      applications.length === 0
        ? html`<p class="quiet">${text.noApplications}</p>
`
        : applicationLinks(applications, consoleUri, more),
  });
}

function addressesCard({ issuer, jwksUri, discoveryUri, messages }: PoolView): Html {
  const { pools: text, frame } = messages.console;
  const entry = (id: string, label: string, value: string) => ({
    label,
    content: copyField({ id, value, label, copy: frame.secret.copy, copied: frame.secret.copied }),
  });
  return card({
    id: "addresses",
    title: text.addresses,
    body: facts([
      entry("pool-issuer", text.issuer, issuer),
      entry("pool-jwks", text.jwks, jwksUri),
      entry("pool-discovery", text.discovery, discoveryUri),
    ]),
  });
}

function settingsCard(view: PoolView): Html {
  const { pool, messages } = view;
  const { pools: text, frame } = messages.console;
  const { fields } = text;
  const seconds = (value: number): Content => messages.format.lifetime(value);
  return card({
    id: "settings",
    title: text.settingsTitle,
    actions: buttonLink({ id: "settings-change", uri: ownUri(view, "/settings"), label: text.change }),
    body: facts([
      { label: fields.algs, content: pool.algs.join(", ") },
      { label: fields.issuerMode, content: text.issuerModes[pool.issuerMode] },
      { label: fields.maxTokenLifetimeSeconds, content: seconds(pool.maxTokenLifetimeSeconds) },
      { label: fields.tokenWaitSeconds, content: seconds(pool.tokenWaitSeconds) },
      {
        label: fields.keyPublishDelaySeconds,
        content: pool.keyPublishDelaySeconds === 0 ? text.atOnce : seconds(pool.keyPublishDelaySeconds),
      },
      { label: fields.maxPending, content: messages.format.number(pool.maxPending) },
      {
        label: fields.trustedRoots,
        content: pool.trustedRoots.length > 0 && text.rootCount({ count: pool.trustedRoots.length }),
      },
      { label: fields.requireX5c, content: pool.requireX5c ? frame.yes : frame.no },
    ]),
  });
}

/** The shared card's words; the pool stands where records with a status do. */
function endTexts({ pool, messages }: PoolView) {
  const { pools: text } = messages.console;
  return {
    ...{ id: "pool-end", noun: "pool", title: text.endTitle },
    text: pool.disabledAt === null ? text.endText : text.disabledText,
    ...{ enable: text.enable.submit, disable: text.disable.submit, delete: text.remove.submit },
  };
}

const ending = (view: PoolView) => ({ record: view.pool, uriOf: (rest: string) => ownUri(view, rest) });
