/** How long to wait after a failure: longer each time, never all agents at the same moment. */
import { setTimeout as delay } from "node:timers/promises";

export interface Backoff {
  /** Milliseconds until the next try. @param least what the service asked for, in seconds */
  next(least?: number): number;
  /** It worked. */
  reset(): void;
}

const FIRST_MS = 500;
const LONGEST_MS = 30_000;
const LONGEST_ASKED_MS = 300_000;

/** Full jitter under a doubling bound, so that a service that comes back is not met by all its agents at once. */
export function backoff(random: () => number = Math.random): Backoff {
  let failures = 0;
  return {
    next: (least = 0) => {
      const bound = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
      failures += 1;
      // Never at once: jitter that comes out near zero would be no pause.
      const pause = FIRST_MS / 2 + random() * bound;
      const asked = Math.min(least * 1000, LONGEST_ASKED_MS);
      return asked > 0 ? asked + random() * FIRST_MS : pause;
    },
    reset: () => {
      failures = 0;
    },
  };
}

/** Ends early, without an error, when the signal aborts. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
