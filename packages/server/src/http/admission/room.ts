/** Who has a place, who may wait for one, and when there is too much: questions about the admission's state, which they leave as it is. */
import type { AdmissionLimits } from "./admission-limits.ts";
import type { LoopGauge } from "./loop-gauge.ts";

/** A request as the admission sees it; its two states are the admission's to change. One object, as every request has one. */
export interface Entry {
  /** In whose turn. */
  readonly organisation: string;
  /** When it came, then when it was begun. */
  since: number;
  state: "outside" | "waiting" | "working" | "over";
  /** Called once there is a place, or instead of it when there is none in time. */
  start(): void;
  refuse(): void;
  /** Whether its answer is on its way: it counts no more once a place is wanted, as whoever reads slowly would hold it. */
  isAnswered(): boolean;
}

export interface Lane {
  working: number;
  /** Whose bodies are being read in this turn of the event loop: they enter at its end. */
  coming: number;
  /** Oldest first. */
  readonly queue: Entry[];
}

export interface State {
  readonly limits: AdmissionLimits;
  readonly now: () => number;
  /** Of whoever works or waits; the first comes next. */
  readonly lanes: Map<string, Lane>;
  /** The one that was begun first comes first. */
  readonly begun: Set<Entry>;
  /** Whoever gives up a place begins another request: not as a part of its own, or of its transaction. */
  readonly outside: (work: () => void) => void;
  readonly gauge: LoopGauge;
  places: number;
  coming: number;
  queued: number;
  /** Since when there was always somebody who waited. */
  waitedSince: number;
  refusedAt: number;
  timer: NodeJS.Timeout | undefined;
}

export function laneOf({ lanes }: State, organisation: string): Lane {
  const known = lanes.get(organisation);
  if (known) return known;
  const lane: Lane = { working: 0, coming: 0, queue: [] };
  lanes.set(organisation, lane);
  return lane;
}

export function forgetEmpty({ lanes }: State, organisation: string, { working, coming, queue }: Lane): void {
  if (working + coming + queue.length === 0) lanes.delete(organisation);
}

export const hasPlace = (
  { limits: { all, each }, begun, places }: State,
  { working }: Lane,
  coming = 0,
): boolean => begun.size < places && (working + coming) * all < each * places;

/** Once it is, until nobody was refused for a while: between two turns of the event loop nobody may wait. */
export const isOverloaded = (
  { limits: { burstMs, calmMs }, queued, waitedSince, refusedAt }: State,
  now: number,
) => now - refusedAt < calmMs || (queued > 0 && now - waitedSince >= burstMs);

export function hasRoom(state: State, { queue: [oldest] }: Lane, now: number, ahead = 0): boolean {
  const { places, queued, limits } = state;
  if (!isOverloaded(state, now)) return queued < limits.waiting;
  const isLate = oldest !== undefined && now - oldest.since > limits.standMs;
  return !isLate && queued + ahead < Math.min(places, limits.waiting);
}

const NOBODY: Lane = { working: 0, coming: 0, queue: [] };

/** Whether one that came now would find neither a place nor room to wait, beside those that are let through but have not entered yet. */
export function isFull(state: State, organisation: string, now: number): boolean {
  const lane = state.lanes.get(organisation) ?? NOBODY;
  const ahead = state.coming - Math.max(0, state.places - state.begun.size);
  if (ahead < 0 && hasPlace(state, lane, lane.coming)) return false;
  return !hasRoom(state, lane, now, Math.max(0, ahead)) && !hasLonger(state, lane);
}

function hasLonger({ lanes }: State, { queue, coming }: Lane): boolean {
  for (const other of lanes.values())
    if (other.queue.length + other.coming > queue.length + coming + 1) return true;
  return false;
}

/** @returns the one that has to give way to one more of this lane */
export function longestQueue({ lanes }: State, lane: Lane): readonly Entry[] | undefined {
  let longest = lane.queue;
  for (const { queue } of lanes.values()) if (queue.length > longest.length) longest = queue;
  return longest.length > lane.queue.length + 1 ? longest : undefined;
}
