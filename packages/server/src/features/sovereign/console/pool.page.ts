/** The page of one signing pool: agents, activity, settings. */
import type { AgentKey, AgentKeyState, SigningAgent } from "../../../core/signing-pools/agent-key.ts";
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
import { emptyState } from "../../../html/components/empty-state.ts";
import { livePiece, liveStatus } from "../../../html/components/live.ts";
import { overflowMenu } from "../../../html/components/overflow-menu.ts";
import { lastChangeLine } from "../../../html/components/record-form.ts";
import { recordHeading, recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, type Row, table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { liveScript } from "../../../html/scripts.ts";
import { type ChartTimes, type RangeName, rangeLinks } from "../../../page-kit/activity-range.ts";
import { doneNotice, endCard, endItems } from "../../../page-kit/record-pages.ts";
import type { AgentStatus, PoolLoad } from "./pool-state.ts";
import { agentState, keyState, poolState, reloadLink } from "./pools.page.ts";

export type ListedAgent = SigningAgent & {
  status: AgentStatus;
  keys: ReadonlyArray<AgentKey & { state: AgentKeyState }>;
};

export type PoolLive = { pool: SigningPool & PoolLoad; agents: readonly ListedAgent[] };

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
  Pick<ConsoleView, "breadcrumbs"> &
  PoolLive & {
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
      pool.disabledAt === null && buttonLink({ ...agentNew, kind: "primary" }),
      overflowMenu(endItems(ending(view), endTexts(view)), messages),
    ],
    notice: doneNotice({ ...view, record: pool, uriOf: (rest) => ownUri(view, rest) }, text.done),
    body: [
      card({
        id: "agents",
        title: text.agents,
        actions: reloadLink(ownUri(view), messages),
        body: poolLivePiece(view),
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

type LiveView = PoolLive & Pick<ConsoleFrame, "consoleUri" | "messages">;

/** The part of the page that scripts reload. */
export function poolLivePiece(view: LiveView): Html {
  const { pool, agents, messages } = view;
  const { pools: text } = messages.console;
  const says = [
    `${text.poolStatus[pool.status]}.`,
    ...agents.map(({ name, status }) => `${name}: ${text.agentStatus[status]}.`),
  ];
  return html`<div${livePiece(ownUri(view, "/live"), says)} class="stack">
<p class="live-line">${poolState(pool.status, messages)} <span class="quiet">${text.liveOf({ count: pool.live, max: pool.agents })} · ${text.waitingNow({ count: pool.waiting })}</span></p>
${
  agents.length === 0
    ? emptyState({ title: text.noAgents, text: text.noAgentsText })
    : table({
        label: text.agents,
        columns: [text.agent, text.state, text.lastSeen, text.keys],
        rows: agents.map((agent) => agentRow(agent, view)),
        messages,
      })
}</div>
`;
}

function agentRow({ id, name, status, lastSeenAt, keys }: ListedAgent, view: LiveView): Row {
  const { messages } = view;
  const { pools: text, frame } = messages.console;
  const key = ({ kid, alg, state, x5c }: ListedAgent["keys"][number]) =>
    html`<li><code title="${kid}">${kid.slice(0, 12)}…</code> <bdi>${alg}</bdi> ${keyState(state, messages)}${
      x5c.length > 0 && html` <span class="quiet">${text.withCertificate}</span>`
    }</li>`;
  return {
    id: `agent-${id}`,
    cells: [
      nameCell({ name, uri: ownUri(view, `/agents/${id}`) }),
      agentState(status, messages),
      lastSeenAt === null ? frame.never : relativeTime(lastSeenAt, messages.format.second),
      keys.length === 0
        ? html`<span class="quiet">${text.noKeys}</span>`
        : html`<ul class="key-list">${keys.map(key)}</ul>`,
    ],
  };
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
