/** States in the colours and words of the pools' pages. */
import type { AgentKeyState } from "../../../core/signing-pools/agent-key.ts";
import { type StateKind, state } from "../../../html/components/parts.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { AgentStanding, PoolStanding } from "./pool-state.ts";

const pools = { working: "good", away: "bad", empty: "warn", disabled: "plain" } as const satisfies Record<
  PoolStanding,
  StateKind
>;

export const poolState = (standing: PoolStanding, { console: { pools: text } }: Messages): Html =>
  state(pools[standing], text.standing[standing]);

const agents = {
  live: "good",
  away: "bad",
  new: "warn",
  deactivated: "plain",
  compromised: "bad",
} as const satisfies Record<AgentStanding, StateKind>;

export const agentState = (standing: AgentStanding, { console: { pools: text } }: Messages): Html =>
  state(agents[standing], text.agentStanding[standing]);

const keys = {
  published: "plain",
  active: "good",
  retiring: "plain",
  retired: "plain",
  compromised: "bad",
} as const satisfies Record<AgentKeyState, StateKind>;

export const keyState = (standing: AgentKeyState, { console: { pools: text } }: Messages): Html =>
  state(keys[standing], text.keyStates[standing]);
