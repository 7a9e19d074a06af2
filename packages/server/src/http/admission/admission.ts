/**
 * How many requests are worked on at once, shared fairly by organisation: under more load than the process can serve, what is
 * admitted is answered as fast as ever, and the rest soon gets 503 with Retry-After instead of everybody waiting longer and longer.
 */

import { AsyncLocalStorage } from "node:async_hooks";

export interface AdmissionLimits {
  /** Worked on at once, of all organisations. */
  readonly all: number;
  /** Of one: the others always find a place. */
  readonly each: number;
  /** How many may wait for a place, of all organisations. */
  readonly waiting: number;
  /** Whoever waited so long is refused, in milliseconds. */
  readonly waitMs: number;
  /** Whoever is worked on for so long waits for somebody else, and counts no more, in milliseconds. */
  readonly workMs: number;
}

/** As many as a process answers in a tenth of a second; a wait and a turn of the event loop end within a quarter. */
export const defaultAdmissionLimits: AdmissionLimits = {
  ...{ all: 256, each: 192, waiting: 2_048 },
  ...{ waitMs: 150, workMs: 1_000 },
};

/** The share of each of several processes that serve one port. */
export const admissionLimitsOf = (workers: number): AdmissionLimits => ({
  ...defaultAdmissionLimits,
  all: Math.ceil(defaultAdmissionLimits.all / workers),
  each: Math.ceil(defaultAdmissionLimits.each / workers),
  waiting: Math.ceil(defaultAdmissionLimits.waiting / workers),
});

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

export interface Admission {
  /** Once. Calls `start` or `refuse`, at once or within the wait. */
  enter(entry: Entry): void;
  /** When the request waits for somebody else; further calls do nothing. */
  leave(entry: Entry): void;
  /** When the request is answered, or its client gone: what is worked on counts until it would be answered. */
  close(entry: Entry): void;
  /** Whether nobody waits, and half of the places are free. */
  isQuiet(): boolean;
  /** For tests. */
  counts(): { readonly working: number; readonly waiting: number };
}

interface Lane {
  working: number;
  /** Oldest first. */
  readonly queue: Entry[];
}

interface State {
  readonly limits: AdmissionLimits;
  readonly now: () => number;
  /** Of whoever works or waits; the first comes next. */
  readonly lanes: Map<string, Lane>;
  /** The one that was begun first comes first. */
  readonly begun: Set<Entry>;
  /** Whoever gives up a place begins another request: not as a part of its own, or of its transaction. */
  readonly outside: (work: () => void) => void;
  queued: number;
  timer: NodeJS.Timeout | undefined;
}

export function createAdmission(
  limits: AdmissionLimits = defaultAdmissionLimits,
  now: () => number = () => performance.now(),
): Admission {
  const outside = AsyncLocalStorage.snapshot();
  const [lanes, begun] = [new Map<string, Lane>(), new Set<Entry>()];
  const state: State = { limits, now, lanes, begun, outside, queued: 0, timer: undefined };
  return {
    enter: (entry) => enter(state, entry),
    leave: (entry) => end(state, entry),
    close: (entry) => {
      if (entry.state === "waiting" || entry.isAnswered()) end(state, entry);
    },
    isQuiet: () => state.queued === 0 && state.begun.size < limits.all / 2,
    counts: () => ({ working: state.begun.size, waiting: state.queued }),
  };
}

function enter(state: State, entry: Entry): void {
  const lane = laneOf(state, entry.organisation);
  entry.since = state.now();
  // Nobody who could go waits while there is a place, so that nobody is passed here.
  if (hasPlace(state, lane)) begin(state, lane, entry);
  else wait(state, lane, entry);
}

function laneOf({ lanes }: State, organisation: string): Lane {
  const known = lanes.get(organisation);
  if (known) return known;
  const lane: Lane = { working: 0, queue: [] };
  lanes.set(organisation, lane);
  return lane;
}

const hasPlace = ({ limits, begun }: State, lane: Lane): boolean =>
  begun.size < limits.all && lane.working < limits.each;

function begin(state: State, lane: Lane, entry: Entry): void {
  entry.state = "working";
  state.begun.add(entry);
  lane.working++;
  entry.start();
}

function wait(state: State, lane: Lane, entry: Entry): void {
  entry.state = "waiting";
  if (!makeRoom(state, lane)) {
    refuse(state, entry);
    return;
  }
  lane.queue.push(entry);
  state.queued++;
  watch(state);
}

function dequeue(state: State, lane: Lane, at: number): Entry | undefined {
  // One that was refused at once never stood here.
  if (at < 0) return undefined;
  const [entry] = lane.queue.splice(at, 1);
  if (entry) state.queued--;
  return entry;
}

function end(state: State, entry: Entry): void {
  const { state: before, organisation } = entry;
  if (before === "outside" || before === "over") return;
  entry.state = "over";
  const lane = laneOf(state, organisation);
  if (before === "waiting") dequeue(state, lane, lane.queue.indexOf(entry));
  else {
    state.begun.delete(entry);
    lane.working--;
  }
  if (lane.working === 0 && lane.queue.length === 0) state.lanes.delete(organisation);
  if (before === "working") startNext(state);
}

/** The organisations take turns; those whose share is full are passed. */
function startNext(state: State): void {
  if (state.queued === 0) return;
  for (const [organisation, lane] of state.lanes) {
    const next = hasPlace(state, lane) ? dequeue(state, lane, 0) : undefined;
    if (next === undefined) continue;
    state.lanes.delete(organisation);
    state.lanes.set(organisation, lane);
    next.since = state.now();
    state.outside(() => begin(state, lane, next));
    return;
  }
}

function refuse(state: State, entry: Entry): void {
  end(state, entry);
  entry.refuse();
}

/** Often enough that nobody waits for a tenth longer. */
function watch(state: State): void {
  if (state.queued === 0) return;
  state.timer ??= setTimeout(() => {
    state.timer = undefined;
    forgetHeld(state);
    refuseLate(state);
    watch(state);
  }, state.limits.waitMs / 10).unref();
}

function forgetHeld(state: State): void {
  const latest = state.now() - state.limits.workMs;
  for (const entry of state.begun) {
    if (entry.since <= latest || entry.isAnswered()) end(state, entry);
  }
}

function refuseLate(state: State): void {
  const latest = state.now() - state.limits.waitMs;
  for (const { queue } of [...state.lanes.values()])
    while (queue[0] !== undefined && queue[0].since <= latest) refuse(state, queue[0]);
}

/** Room to wait is taken from whoever has most of it. @returns whether there is room for one of this lane */
function makeRoom(state: State, lane: Lane): boolean {
  if (state.queued < state.limits.waiting) return true;
  let longest = lane;
  for (const other of state.lanes.values()) if (other.queue.length > longest.queue.length) longest = other;
  const last = longest.queue.at(-1);
  if (last === undefined || longest.queue.length <= lane.queue.length + 1) return false;
  refuse(state, last);
  return true;
}
