/**
 * Guesses at a secret: only wrong ones count, after they were checked. Before, each takes one of the places that its limits
 * have left, in the database, so that guesses sent at once, to any node, are never checked more often than the limit allows.
 * Who finds no place waits until the others have been checked.
 */
import type { CoreDeps } from "../core-deps.ts";
import type { AttemptQueue } from "./attempt-queue.ts";
import { type AttemptEnd, type Counter, endPlace, PLACE_MS, takePlace } from "./attempts.store.ts";
import { type Counted, counterOf, RateLimited, refuseIfExceeded } from "./rate-limits.ts";

export interface GuessDeps extends CoreDeps {
  readonly attempts: AttemptQueue;
}

export interface CountedGuess extends Counted {
  /** A right guess forgets the wrong ones before it: only for what nobody else's success can reach. */
  readonly clearedBySuccess?: boolean;
}

interface Place {
  readonly counter: Counter;
  readonly generation: number;
  readonly clearedBySuccess: boolean;
}

/** A result that comes later isn't told: its place may have been given to another guess. The margin is for nodes' clocks. */
const TOLD_WITHIN_MS = PLACE_MS - 10_000;

/**
 * @param check looks at the guess; called at most once
 * @throws RateLimited, and what `check` throws: then nothing counts
 */
export async function checkGuess<Result>(
  deps: GuessDeps,
  orgId: string,
  counted: readonly CountedGuess[],
  check: () => Promise<Result>,
  isRight: (result: Result) => boolean,
): Promise<Result> {
  const places = await takePlaces(deps, orgId, counted);
  const startedAt = deps.clock();
  let end: (place: Place) => AttemptEnd = () => "released";
  try {
    const result = await check();
    if (deps.clock() - startedAt > TOLD_WITHIN_MS) throw tooManyAtOnce(counted);
    end = isRight(result)
      ? ({ clearedBySuccess: clears }) => (clears ? "cleared" : "released")
      : () => "failed";
    return result;
  } finally {
    await endPlaces(deps, places, end);
  }
}

const RETRY_SECONDS = 2;

const tooManyAtOnce = ([first]: readonly CountedGuess[]) => {
  if (!first) throw new TypeError("a guess without a limit");
  return new RateLimited(first.limit, RETRY_SECONDS, { isTemporary: true });
};

/** Waits without holding a place, so that a full limit never blocks another one. */
async function takePlaces(
  deps: GuessDeps,
  orgId: string,
  counted: readonly CountedGuess[],
): Promise<Place[]> {
  const counters = counted.map((one) => counterOf(orgId, one));
  const deadline = deps.attempts.deadline();
  let waitedFor = counters.map(keyOf).find(deps.attempts.isWaiting);
  let isFirst = false;
  for (;;) {
    if (waitedFor !== undefined && !(await deps.attempts.wait(waitedFor, { isFirst, deadline })))
      throw tooManyAtOnce(counted);
    const before = waitedFor;
    const outcome = await tryPlaces(deps, counted, counters).catch((error: unknown) => {
      // The others who wait are refused as well.
      if (before !== undefined) deps.attempts.wake(before);
      throw error;
    });
    if (Array.isArray(outcome)) {
      // There may be more places than one.
      if (before !== undefined) deps.attempts.wake(before);
      return outcome;
    }
    waitedFor = outcome.full;
    isFirst = before === waitedFor;
    if (before !== undefined && !isFirst) deps.attempts.wake(before);
  }
}

/** @returns a place under every limit, or the key of the one that has none left. @throws RateLimited */
async function tryPlaces(
  deps: GuessDeps,
  counted: readonly CountedGuess[],
  counters: readonly Counter[],
): Promise<Place[] | { readonly full: string }> {
  const states = await refuseIfExceeded(deps, counted, counters);
  const full = counters.find(({ max }, at) => {
    const { failures = 0, pending = 0 } = states[at] ?? {};
    return failures + pending >= max;
  });
  if (full) return { full: keyOf(full) };
  const places: Place[] = [];
  for (const [at, counter] of counters.entries()) {
    const generation = await takePlace(deps.database.query, counter, deps.clock());
    if (generation === undefined) {
      await endPlaces(deps, places, () => "released");
      return { full: keyOf(counter) };
    }
    places.push({ counter, generation, clearedBySuccess: counted[at]?.clearedBySuccess === true });
  }
  return places;
}

async function endPlaces(
  { database, clock, attempts }: GuessDeps,
  places: readonly Place[],
  endOf: (place: Place) => AttemptEnd,
): Promise<void> {
  for (const place of places) {
    const { counter, generation } = place;
    await endPlace(database.query, counter, { generation, end: endOf(place), now: clock() });
    attempts.wake(keyOf(counter));
  }
}

const keyOf = ({ orgId, bucket }: Counter): string => `${orgId}|${bucket}`;
