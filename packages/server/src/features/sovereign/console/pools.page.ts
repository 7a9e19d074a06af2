/** The list of signing pools, and the statuses of pools, agents and keys in words. */
import type { AgentKeyState } from "../../../core/signing-pools/agent-key.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { type BadgeKind, badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { emptyState } from "../../../html/components/empty-state.ts";
import { livePiece, liveStatus } from "../../../html/components/live.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { liveScript } from "../../../html/scripts.ts";
import type { AgentStatus, PoolLoad, PoolStatus } from "./pool-state.ts";

export type PoolsView = ConsoleFrame & {
  /** All on one page: an organisation has few. */
  pools: ReadonlyArray<SigningPool & PoolLoad>;
  isDeleted: boolean;
};

export function poolsPage(view: PoolsView): Html {
  const { pools: text, frame } = view.messages.console;
  const isEmpty = view.pools.length === 0;
  const add = buttonLink({
    id: "pool-new",
    uri: view.consoleUri("/pools/new"),
    label: text.make,
    kind: "primary",
  });
  return consoleLayout({
    ...view,
    title: frame.pages.pools,
    summary: text.summary,
    breadcrumbs: [],
    actions: !isEmpty && add,
    notice: view.isDeleted ? toast(text.done.deleted, view.messages) : undefined,
    scripts: isEmpty ? [] : [liveScript.path],
    body: isEmpty
      ? html`<section class="card">${emptyState({ title: text.none, text: text.noneText, action: add })}</section>
`
      : [
          html`<section class="card" id="pools" aria-label="${text.title}">
${reloadLink(view.consoleUri("/pools"), view.messages)}${poolTable(view)}</section>
`,
          liveStatus,
        ],
  });
}

/** For browsers without scripts; with scripts the page reloads its list itself. */
export const reloadLink = (uri: string, { console: { pools: text } }: Messages): Html =>
  html`<noscript><a class="card-link" id="live-reload" href="${linkAddress(uri)}">${text.reload}</a></noscript>`;

/** The part of the page that scripts reload. */
export function poolTable({
  pools,
  consoleUri,
  messages,
}: Pick<PoolsView, "pools" | "consoleUri" | "messages">): Html {
  const { pools: text } = messages.console;
  const says = pools.map(({ name, status }) => `${name}: ${text.poolStatus[status]}.`);
  return html`<div${livePiece(consoleUri("/pools/live"), says)}>${table({
    label: text.title,
    columns: [text.name, text.state, text.agents, text.waiting, text.signatures],
    rows: pools.map(({ id, name, algs, status, agents, live, waiting, signed, failed }) => ({
      id: `pool-${id}`,
      cells: [
        nameCell({ name, uri: consoleUri(`/pools/${id}`), note: algs.join(", ") }),
        poolState(status, messages),
        text.liveOf({ count: live, max: agents }),
        messages.format.number(waiting),
        [
          messages.format.number(signed),
          failed > 0 && html` <span class="failed-count">${text.failedCount({ count: failed })}</span>`,
        ],
      ],
    })),
    messages,
  })}</div>
`;
}

const kinds: Readonly<Record<PoolStatus | AgentStatus | AgentKeyState, BadgeKind>> = {
  working: "good",
  away: "bad",
  empty: "warn",
  disabled: "plain",
  live: "good",
  new: "warn",
  deactivated: "plain",
  compromised: "bad",
  published: "plain",
  active: "good",
  retiring: "plain",
  retired: "plain",
};

export const poolState = (status: PoolStatus, { console: { pools: text } }: Messages): Html =>
  badge(kinds[status], text.poolStatus[status]);

export const agentState = (status: AgentStatus, { console: { pools: text } }: Messages): Html =>
  badge(kinds[status], text.agentStatus[status]);

export const keyState = (status: AgentKeyState, { console: { pools: text } }: Messages): Html =>
  badge(kinds[status], text.keyStates[status]);
