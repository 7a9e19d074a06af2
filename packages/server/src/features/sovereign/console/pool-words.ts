/** Status labels and colours of pools, agents and keys. */
import type { AgentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { type StateKind, state } from "../../../html/components/parts.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { AgentStatus, PoolStatus } from "./pool-state.ts";

const pools = { working: "good", away: "bad", empty: "warn", disabled: "plain" } as const satisfies Record<
  PoolStatus,
  StateKind
>;

export const poolState = (status: PoolStatus, { console: { pools: text } }: Messages): Html =>
  state(pools[status], text.poolStatus[status]);

const agents = {
  live: "good",
  away: "bad",
  new: "warn",
  deactivated: "plain",
  compromised: "bad",
} as const satisfies Record<AgentStatus, StateKind>;

export const agentState = (status: AgentStatus, { console: { pools: text } }: Messages): Html =>
  state(agents[status], text.agentStatus[status]);

const keys = {
  published: "plain",
  active: "good",
  retiring: "plain",
  retired: "plain",
  compromised: "bad",
} as const satisfies Record<AgentKeyState, StateKind>;

export const keyState = (status: AgentKeyState, { console: { pools: text } }: Messages): Html =>
  state(keys[status], text.keyStates[status]);
