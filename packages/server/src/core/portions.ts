/**
 * Long work of many small pieces. It is written as a generator that yields between them: a command runs it at once, a server in
 * portions, between which the event loop has its turn and others' requests are answered.
 */
import { setImmediate } from "node:timers/promises";

/** Yields between two pieces. */
export type Work<Result> = Generator<undefined, Result, undefined>;

export function atOnce<Result>(work: Work<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

export async function inPortions<Result>(work: Work<Result>): Promise<Result> {
  const pause = pauses();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await pause();
  }
}

/** What others wait at most, beside what one piece takes. */
const PORTION_MS = 10;

/** @returns what to await between two pieces: others have their turn if the last one was a while ago */
export function pauses(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < PORTION_MS) return;
    await setImmediate();
    since = performance.now();
  };
}

export function* eachOf<Item, Result>(
  items: readonly Item[],
  one: (item: Item, index: number) => Result,
): Work<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    results.push(one(item, index));
    yield;
  }
  return results;
}
