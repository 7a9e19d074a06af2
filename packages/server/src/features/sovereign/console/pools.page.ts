/** The statuses of pools, agents and keys in words. */
import type { AgentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { type BadgeKind, badge } from "../../../html/components/badge.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { AgentStatus, PoolStatus } from "./pool-state.ts";

/** For browsers without scripts; with scripts the page reloads its list itself. */
export const reloadLink = (uri: string, { console: { pools: text } }: Messages): Html =>
  html`<noscript><a class="card-link" id="live-reload" href="${linkAddress(uri)}">${text.reload}</a></noscript>`;

const kinds: Readonly<Record<PoolStatus | AgentStatus | AgentKeyState, BadgeKind>> = {
  working: "good",
  short: "warn",
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
