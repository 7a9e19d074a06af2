/** The parts of a signing pool's page, by its tabs: its status, its agents, its requests, its settings. */
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { applicationLinks } from "../../../html/components/application-links.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { chartCard } from "../../../html/components/charts/chart-card.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { livePiece, liveStatus } from "../../../html/components/live.ts";
import { livePanel } from "../../../html/components/live-panel.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { stepList } from "../../../html/components/step-list.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type ChartTimes, type RangeName, rangeLinks } from "../../../page-kit/activity-range.ts";
import type { RenderedList } from "../../../page-kit/list/list-view.ts";
import { endCard, endItems, type RecordParts, type RecordView } from "../../../page-kit/record-pages.ts";
import type { OpenRequest } from "./console.store.ts";
import { groupKeyCard } from "./group-key.page.ts";
import type { GroupKeyView } from "./group-key.ts";
import { setupSteps } from "./pool-form.page.ts";
import { AGENTS } from "./pool-path.ts";
import { type PoolLoad, signersNeeded } from "./pool-state.ts";
import { poolState, reloadLink } from "./pools.page.ts";

export type LoadedPool = SigningPool & PoolLoad;

export type PoolView = RecordView<SigningPool> & {
  pool: LoadedPool;
  /** Deactivated ones too. */
  hasAgents: boolean;
};

const ownUri = ({ pool, consoleUri }: Pick<PoolView, "pool" | "consoleUri">, rest = ""): string =>
  consoleUri(`/pools/${pool.id}${rest}`);

/** What stands above every tab. */
export function abovePool(view: PoolView): RecordParts {
  const { pool, messages } = view;
  const { pools: text } = messages.console;
  const agentNew = { id: "agent-new", uri: ownUri(view, "/agents/new"), label: text.addAgent };
  return {
    head: {
      name: pool.name,
      mark: recordIcon("pool"),
      facts: [html`<span id="pool-state">${poolState(pool.status, messages)}</span>`],
      id: { id: "pool-id", value: pool.id, label: text.poolId },
    },
    // Without agents, their list has it.
    actions: pool.disabledAt === null && view.hasAgents && buttonLink({ ...agentNew, kind: "primary" }),
    more: endItems(view, endTexts(view)),
    done: text.done,
  };
}

export type PoolOverview = PoolView & {
  /** See `poolSetup`; undefined once nothing is missing. */
  setup: Html | undefined;
  /** Of a threshold pool. */
  groupKey: GroupKeyView | undefined;
  /** Of signatures. */
  chart: Html;
  /** See agent-list.ts. While there is none yet. */
  agents: RenderedList | undefined;
  issuer: string;
  jwksUri: string;
  discoveryUri: string;
  applications: ReadonlyArray<{ id: string; name: string }>;
  hasMoreApplications: boolean;
};

/** What a new pool needs before it signs, kept up to date until it has all of it. */
export function poolSetup(
  { pool, consoleUri, messages }: Pick<PoolView, "pool" | "consoleUri" | "messages">,
  has: { agents: boolean; applications: boolean; groupKey?: boolean | undefined },
): Html | undefined {
  const { setup: text } = messages.console.pools;
  if (pool.disabledAt !== null) return undefined;
  const reached = {
    pool: true,
    agent: has.agents,
    online: pool.live >= signersNeeded(pool),
    ...(has.groupKey === undefined ? {} : { key: has.groupKey }),
    application: has.applications,
  };
  const steps = setupSteps(reached, messages, {
    agent: ownUri({ pool, consoleUri }, "/agents/new"),
    application: consoleUri("/applications"),
  });
  const isDone = steps.every((step) => step.isDone);
  return livePanel({
    id: "pool-setup",
    uri: ownUri({ pool, consoleUri }, "/setup"),
    title: isDone ? text.done : text.title,
    state: isDone ? "done" : "waiting",
    text: isDone ? text.doneText : text.text,
    body: stepList(steps, messages),
  });
}

export const poolOverview = (view: PoolOverview): Content => [
  view.setup,
  card({
    id: "status",
    title: view.messages.console.pools.state,
    actions: reloadLink(ownUri(view), view.messages),
    body: [poolStatusPiece(view), view.agents?.section],
  }),
  view.groupKey && groupKeyCard(view, view.groupKey),
  view.chart,
  applicationsCard(view),
  addressesCard(view),
  liveStatus,
];

export const poolAgents = (view: PoolView & { chart: Html; agents: RenderedList }): Content => [
  card({
    id: "agents",
    title: view.messages.console.pools.agents,
    actions: reloadLink(ownUri(view, AGENTS), view.messages),
    body: view.agents.section,
  }),
  view.chart,
  liveStatus,
];

/** @param open one more than shown, where there are more */
export function poolRequests(
  view: PoolView & { chart: Html; open: readonly OpenRequest[]; max: number },
): Content {
  const { consoleUri, messages, open, max } = view;
  const { pools } = messages.console;
  const { requests: text } = pools;
  const list = table({
    label: text.title,
    columns: [text.application, text.grant, pools.state, pools.agent, text.since],
    rows: open
      .slice(0, max)
      .map(({ id, applicationId, application, grantType, state, agent, createdAt }) => ({
        id: `request-${id}`,
        cells: [
          nameCell({ name: application, uri: consoleUri(`/applications/${applicationId}`) }),
          html`<code>${grantType}</code>`,
          badge(state === "pending" ? "warn" : "plain", text.states[state]),
          agent
            ? html`<a href="${linkAddress(ownUri(view, `/agents/${agent.id}`))}"><bdi>${agent.name}</bdi></a>`
            : html`<span class="quiet">${text.noAgent}</span>`,
          relativeTime(createdAt, messages.format.second),
        ],
      })),
    none: text.none,
    messages,
  });
  const more =
    open.length > max &&
    html`<p class="quiet">${text.more({ count: max })}</p>
`;
  return [
    card({
      id: "requests",
      title: text.title,
      text: text.text,
      actions: html`<a class="card-link" id="requests-reload" href="${linkAddress(ownUri(view, "/requests"))}">${pools.reload}</a>`,
      body: [list, more],
    }),
    view.chart,
  ];
}

/** The last tab: what can be changed, and the end of the pool. */
export const poolSettings = (form: Html, view: PoolView): Content => [form, endCard(view, endTexts(view))];

/** Whether the pool signs and what it has to do, kept up to date. */
export function poolStatusPiece({
  pool,
  consoleUri,
  messages,
}: Pick<PoolView, "pool" | "consoleUri" | "messages">): Html {
  const { pools: text } = messages.console;
  const needed = signersNeeded(pool);
  const counts = [
    text.liveOf({ count: pool.live, max: pool.agents }),
    ...(needed > 1 ? [text.needed({ count: needed })] : []),
    text.waitingNow({ count: pool.waiting }),
  ];
  return html`<p${livePiece(ownUri({ pool, consoleUri }, "/status"), [`${text.poolStatus[pool.status]}.`])} class="live-line">${poolState(pool.status, messages)} <span class="quiet">${counts.join(" · ")}</span></p>
`;
}

/** Counts and peaks of a pool over a time. */
export type PoolChart = ChartTimes & { range: RangeName; counts: readonly (readonly number[])[] };

export type PoolChartName = "signatures" | "agents-online" | "queue";

/** One chart with its range. @param view.uriOf the page that it stands on, with another range */
export function poolChart(
  name: PoolChartName,
  { range, from, points, ticks, counts }: PoolChart,
  { uriOf, messages }: { uriOf(query: string): string; messages: Messages },
): Html {
  const { pools: text, overview } = messages.console;
  const { charts: words } = overview;
  const shared = { id: name, from, points, ticks, messages, range: overview.range[range] };
  const [first = [], second = []] = counts;
  const peak = {
    form: "steps",
    series: [{ label: words.agentsAtOnce, tone: "plain", counts: first }],
  } as const;
  const signatures = {
    form: "bars",
    series: [
      { label: words.signed, tone: "plain", counts: first },
      { label: words.failed, tone: "bad", counts: second },
    ],
  } as const;
  const titles = { signatures: text.signatures, "agents-online": text.agentsOnline, queue: text.queue };
  return html`<section class="activity" aria-labelledby="activity-title">
<div class="bar"><h2 id="activity-title">${overview.activity}</h2>
${rangeLinks(range, uriOf, messages)}</div>
${chartCard({ title: titles[name], ...shared, ...(name === "signatures" ? signatures : peak) })}</section>
`;
}

function applicationsCard({ applications, hasMoreApplications, consoleUri, messages }: PoolOverview): Html {
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

function addressesCard({ issuer, jwksUri, discoveryUri, messages }: PoolOverview): Html {
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

/** The shared card's words; the pool stands where records with a status do. */
function endTexts({ pool, messages }: PoolView) {
  const { pools: text } = messages.console;
  return {
    ...{ id: "pool-end", noun: "pool", title: text.endTitle },
    text: pool.disabledAt === null ? text.endText : text.disabledText,
    ...{ enable: text.enable.submit, disable: text.disable.submit, delete: text.remove.submit },
  };
}
