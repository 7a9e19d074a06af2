/**
 * How many requests are worked on at once, shared fairly by organisation: under more load than the process can serve, what is
 * admitted is answered as fast as ever, and the rest soon gets 503 with Retry-After instead of everybody waiting longer and longer.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { type AdmissionLimits, defaultAdmissionLimits } from "./admission-limits.ts";
import { type LoopGauge, loopGauge } from "./loop-gauge.ts";
import {
  type Entry,
  forgetEmpty,
  hasPlace,
  hasRoom,
  isFull,
  isOverloaded,
  type Lane,
  laneOf,
  longestQueue,
  type State,
} from "./room.ts";

export interface Admission {
  /** Once. Calls `start` or `refuse`, at once or within the wait. */
  enter(entry: Entry): void;
  /** When the request waits for somebody else; further calls do nothing. */
  leave(entry: Entry): void;
  /** When the request is answered, or its client gone: what is worked on counts until it would be answered. */
  close(entry: Entry): void;
  /** Whether nobody waits, and half of the places are free. */
  isQuiet(): boolean;
  /**
   * Whether a request would be refused if it came now, as there have been too many for a while: to be refused before anything is
   * done for it. Counts as a refusal.
   */
  refusesNow(organisation: string): boolean;
  isOverloaded(): boolean;
  /** What was let through is reckoned with until it enters. @returns to be called before it does */
  expect(organisation: string): () => void;
  /** For tests. */
  counts(): { readonly working: number; readonly waiting: number; readonly places: number };
}

export function createAdmission(
  limits: AdmissionLimits = defaultAdmissionLimits,
  now: () => number = () => performance.now(),
  gauge: LoopGauge = loopGauge(),
): Admission {
  const outside = AsyncLocalStorage.snapshot();
  const [lanes, begun] = [new Map<string, Lane>(), new Set<Entry>()];
  const state: State = {
    ...{ limits, now, lanes, begun, outside, gauge, places: limits.all, coming: 0, queued: 0 },
    ...{ waitedSince: 0, refusedAt: Number.NEGATIVE_INFINITY, timer: undefined },
  };
  return {
    enter: (entry) => enter(state, entry),
    leave: (entry) => end(state, entry),
    close: (entry) => {
      if (entry.state === "waiting" || entry.isAnswered()) end(state, entry);
    },
    isQuiet: () => state.queued === 0 && state.begun.size < state.places / 2,
    refusesNow: (organisation) => refusesNow(state, organisation),
    expect: (organisation) => expect(state, organisation),
    isOverloaded: () => isOverloaded(state, now()),
    counts: () => ({ working: state.begun.size, waiting: state.queued, places: state.places }),
  };
}

function enter(state: State, entry: Entry): void {
  const lane = laneOf(state, entry.organisation);
  entry.since = state.now();
  // Nobody who could go waits while there is a place, so that nobody is passed here.
  if (hasPlace(state, lane)) begin(state, lane, entry);
  else wait(state, lane, entry);
}

function begin(state: State, lane: Lane, entry: Entry): void {
  entry.state = "working";
  state.begun.add(entry);
  lane.working++;
  entry.start();
}

function wait(state: State, lane: Lane, entry: Entry): void {
  entry.state = "waiting";
  if (!makeRoom(state, lane, entry.since)) {
    refuse(state, entry);
    return;
  }
  lane.queue.push(entry);
  if (state.queued === 0) state.waitedSince = entry.since;
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
  forgetEmpty(state, organisation, lane);
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

function refusesNow(state: State, organisation: string): boolean {
  const now = state.now();
  if (!isOverloaded(state, now) || !isFull(state, organisation, now)) return false;
  state.refusedAt = now;
  watch(state);
  return true;
}

function expect(state: State, organisation: string): () => void {
  const lane = laneOf(state, organisation);
  lane.coming++;
  state.coming++;
  return () => {
    lane.coming--;
    state.coming--;
    forgetEmpty(state, organisation, lane);
  };
}

function refuse(state: State, entry: Entry): void {
  state.refusedAt = state.now();
  end(state, entry);
  entry.refuse();
}

/** While somebody waits or was just refused; all is well otherwise, and every request finds its place. */
function watch(state: State): void {
  if (state.timer !== undefined) return;
  state.gauge.begin();
  watchOn(state);
}

/** Often enough that nobody waits for a tenth longer. */
function watchOn(state: State): void {
  state.timer = setTimeout(() => {
    state.timer = undefined;
    forgetHeld(state);
    refuseLate(state);
    adaptPlaces(state);
    if (state.queued > 0 || isOverloaded(state, state.now())) watchOn(state);
  }, state.limits.waitMs / 10).unref();
}

/** Fewer where the event loop never rests, more where it does while somebody waits: then it is something else that takes long. */
function adaptPlaces(state: State): void {
  const { all, least } = state.limits;
  const wanted = state.gauge.placesAfter(state.places, state.queued > 0);
  state.places = Math.min(all, Math.max(least, wanted));
  for (let free = state.places - state.begun.size; free > 0 && state.queued > 0; free--) startNext(state);
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
function makeRoom(state: State, lane: Lane, now: number): boolean {
  if (hasRoom(state, lane, now)) return true;
  const last = longestQueue(state, lane)?.at(-1);
  if (last === undefined) return false;
  refuse(state, last);
  return true;
}
