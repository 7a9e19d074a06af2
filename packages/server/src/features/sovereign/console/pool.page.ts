/** The page of one signing pool: agents, activity, settings. */
import type { AgentKeyState } from "../../../core/signing-pools/agent-key.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { chart, chartFigures, type Series } from "../../../html/components/charts/chart.ts";
import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { livePiece, liveStatus } from "../../../html/components/live.ts";
import {
  buttonLink,
  card,
  copyable,
  copyStatus,
  emptyState,
  facts,
  moment,
} from "../../../html/components/parts.ts";
import { lastChangeLine, successNotice } from "../../../html/components/record-form.ts";
import { nameCell, type Row, table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { copyScript, liveScript } from "../../../html/scripts.ts";
import type { AgentStatus, PoolLoad } from "./pool-state.ts";
import { agentState, keyState, poolState } from "./pool-words.ts";
import { reloadLink } from "./pools.page.ts";

export type ListedAgent = {
  id: string;
  name: string;
  status: AgentStatus;
  /** Milliseconds. */
  lastSeenAt: number | null;
  uri: string;
  /** Unretired keys. */
  keys: ReadonlyArray<{ kid: string; alg: string; state: AgentKeyState; hasCertificate: boolean }>;
};

export type PoolLive = {
  liveUri: string;
  load: PoolLoad | undefined;
  agents: readonly ListedAgent[];
};

export type Signatures = {
  /** Milliseconds. */
  from: number;
  points: readonly string[];
  ticks: readonly string[];
  signed: readonly number[];
  failed: readonly number[];
};

export type PoolView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    pool: SigningPool;
    issuer: string;
    jwksUri: string;
    discoveryUri: string;
    live: PoolLive;
    signatures: Signatures;
    applications: readonly { name: string; uri: string }[];
    hasMoreApplications: boolean;
    uris: Record<"own" | "settings" | "newAgent" | "disable" | "enable" | "delete", string>;
    lastChange: { who: string; at: number } | undefined;
    done: keyof Messages["console"]["pools"]["done"] | undefined;
  };

export function poolPage(view: PoolView): Html {
  const { pool, uris, messages } = view;
  const { pools: text } = messages.console;
  const isDisabled = pool.disabledAt !== null;
  return consoleLayout({
    ...view,
    scripts: [copyScript.path, liveScript.path],
    title: pool.name,
    heading: html`<bdi>${pool.name}</bdi>`,
    actions: [
      !isDisabled &&
        buttonLink({ id: "agent-new", uri: uris.newAgent, label: text.addAgent, isPrimary: true }),
      buttonLink({ id: "pool-settings", uri: uris.settings, label: text.settings }),
    ],
    notice: view.done && successNotice(text.done[view.done]),
    body: [
      card({
        id: "agents",
        title: text.agents,
        actions: reloadLink(uris.own, messages),
        body: poolLivePiece(view.live, messages),
      }),
      html`<div class="pair-of-cards">
${signaturesCard(view)}${applicationsCard(view)}</div>
`,
      addressesCard(view),
      settingsCard(view),
      endCard(view),
      lastChangeLine(view.lastChange, messages),
      copyStatus,
      liveStatus,
    ],
  });
}

/** The part of the page that scripts reload. */
export function poolLivePiece({ liveUri, load, agents }: PoolLive, messages: Messages): Html {
  const { pools: text, frame } = messages.console;
  const says = [
    load && `${text.poolStatus[load.status]}.`,
    ...agents.map(({ name, status }) => `${name}: ${text.agentStatus[status]}.`),
  ].filter((line) => line !== undefined);
  return html`<div${livePiece(liveUri, says)} class="stack">
${
  load &&
  html`<p class="live-line">${poolState(load.status, messages)} <span class="quiet">${text.liveOf({ count: load.live, max: load.agents })} · ${text.waitingNow({ count: load.waiting })}</span></p>`
}
${
  agents.length === 0
    ? emptyState({ title: text.noAgents, text: text.noAgentsText })
    : table({
        label: text.agents,
        columns: [text.agent, text.state, text.lastSeen, text.keys],
        rows: agents.map((agent) => agentRow(agent, messages)),
        messages,
      })
}</div>
`;

  function agentRow({ id, name, uri, status, lastSeenAt, keys }: ListedAgent, words: Messages): Row {
    const key = (one: ListedAgent["keys"][number]) =>
      html`<li><code title="${one.kid}">${one.kid.slice(0, 12)}…</code> ${one.alg} ${keyState(one.state, words)}${
        one.hasCertificate && html` <span class="quiet">${text.withCertificate}</span>`
      }</li>`;
    return {
      id: `agent-${id}`,
      cells: [
        nameCell({ name, uri }),
        agentState(status, words),
        lastSeenAt === null ? frame.never : moment(lastSeenAt, messages.format.second),
        keys.length === 0
          ? html`<span class="quiet">${text.noKeys}</span>`
          : html`<ul class="key-list">${keys.map(key)}</ul>`,
      ],
    };
  }
}

function signaturesCard({ signatures, messages }: PoolView): Html {
  const { charts } = messages.console.overview;
  const { pools: text } = messages.console;
  const series: Series[] = [
    { label: charts.signed, tone: "plain", counts: signatures.signed },
    { label: charts.failed, tone: "bad", counts: signatures.failed },
  ];
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  return card({
    id: "signatures",
    title: text.signatures,
    body: [
      chartFigures(series.map((one) => ({ ...one, figure: messages.format.number(sum(one.counts)) }))),
      chart({
        id: "signatures-chart",
        title: text.signatures,
        description: charts.from({ at: signatures.from }),
        form: "bars",
        series,
        points: signatures.points,
        ticks: signatures.ticks,
        messages,
      }),
    ],
  });
}

function applicationsCard({ applications, hasMoreApplications, messages }: PoolView): Html {
  const { pools: text } = messages.console;
  return card({
    id: "pool-applications",
    title: text.applications,
    text: text.applicationsText,
    body:
      applications.length === 0
        ? html`<p class="quiet">${text.noApplications}</p>
`
        : html`<ul class="plain-list">${applications.map(({ name, uri }) => html`<li><a href="${linkAddress(uri)}"><bdi>${name}</bdi></a></li>`)}
${hasMoreApplications && html`<li class="quiet">${text.moreApplications}</li>`}</ul>
`,
  });
}

function addressesCard({ issuer, jwksUri, discoveryUri, pool, messages }: PoolView): Html {
  const { pools: text, frame } = messages.console;
  const entry = (id: string, label: string, value: string) => ({
    label,
    content: copyable({ id, value, label, copy: frame.secret.copy, copied: frame.secret.copied }),
  });
  return card({
    id: "addresses",
    title: text.addresses,
    body: facts([
      entry("pool-issuer", text.issuer, issuer),
      entry("pool-jwks", text.jwks, jwksUri),
      entry("pool-discovery", text.discovery, discoveryUri),
      entry("pool-id", text.poolId, pool.id),
    ]),
  });
}

function settingsCard({ pool, uris, messages }: PoolView): Html {
  const { pools: text, frame } = messages.console;
  const { fields } = text;
  const seconds = (value: number): Content => messages.format.lifetime(value);
  return card({
    id: "settings",
    title: text.settingsTitle,
    actions: buttonLink({ id: "settings-change", uri: uris.settings, label: text.change }),
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

function endCard({ pool, uris, messages }: PoolView): Html {
  const { pools: text } = messages.console;
  const isDisabled = pool.disabledAt !== null;
  return card({
    id: "pool-end",
    title: text.endTitle,
    text: isDisabled ? text.disabledText : text.endText,
    isDangerous: true,
    body: html`<div class="actions">${
      isDisabled
        ? buttonLink({ id: "pool-enable", uri: uris.enable, label: text.enable.submit })
        : buttonLink({ id: "pool-disable", uri: uris.disable, label: text.disable.submit, isDangerous: true })
    }${buttonLink({ id: "pool-delete", uri: uris.delete, label: text.remove.submit, isDangerous: true })}</div>
`,
  });
}
