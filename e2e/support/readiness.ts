/** What a load balancer sees of a server, whatever its database does. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

export interface Watched {
  /** Of /readyz: every status there was. */
  readonly statuses: readonly number[];
  readonly ready: Times;
  /** Of /livez, which asks nobody: how busy the machine is. */
  readonly live: Times;
}

/** Milliseconds within which half of the answers came, and nine of ten. */
export interface Times {
  readonly half: number;
  readonly most: number;
}

/** What operators are promised (docs/operations.md, "Health"), and what a machine with two cores and three tests adds at worst. */
const HALF_MS = 250;
const MOST_MS = 1_000;

const PAUSE_MS = 100;

/** Asks ten times a second. @returns what ends it, and tells */
export function watchReadiness(baseUrl: string): () => Promise<Watched> {
  let isOver = false;
  const statuses = new Set<number>();
  const took: Record<"ready" | "live", number[]> = { ready: [], live: [] };
  const ask = async (path: string, times: number[]): Promise<number> => {
    const asked = performance.now();
    const answer = await fetch(`${baseUrl}${path}`);
    await answer.body?.cancel();
    times.push(performance.now() - asked);
    return answer.status;
  };
  const watched = (async () => {
    while (!isOver) {
      await ask("/livez", took.live);
      statuses.add(await ask("/readyz", took.ready));
      await delay(PAUSE_MS);
    }
  })();
  return async () => {
    isOver = true;
    await watched;
    return { statuses: [...statuses], ready: timesOf(took.ready), live: timesOf(took.live) };
  };
}

function timesOf(all: readonly number[]): Times {
  const sorted = all.toSorted((one, other) => one - other);
  const within = (part: number) => Math.round(sorted[Math.floor(sorted.length * part)] ?? 0);
  return { half: within(0.5), most: within(0.9) };
}

/** @throws AssertionError when it was not ready all the while, or answered late where /livez did not */
export function assertReady({ statuses, ready, live }: Watched): void {
  assert.deepEqual(statuses, [200]);
  const said = `readiness took ${JSON.stringify(ready)} ms, /livez ${JSON.stringify(live)}`;
  assert.ok(ready.half <= HALF_MS + 3 * live.half && ready.most <= MOST_MS + 3 * live.most, said);
}
