/** How long to wait after a failure: longer each time, and never all devices of a fleet at the same moment. */
export interface Backoff {
  /** Milliseconds until the next try. @param asked what the service asked for, in seconds */
  next(asked?: number): number;
  /** It worked. */
  reset(): void;
}

const FIRST_MS = 60_000;
const LONGEST_MS = 6 * 3_600_000;
const LONGEST_ASKED_MS = 24 * 3_600_000;

/** Full jitter under a doubling bound. */
export function backoff(random: () => number): Backoff {
  let failures = 0;
  return {
    next: (asked = 0) => {
      const bound = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
      failures += 1;
      // Never at once: jitter that comes out near zero would be no pause.
      const pause = FIRST_MS / 2 + random() * bound;
      const least = Math.min(asked * 1000, LONGEST_ASKED_MS);
      return least > 0 ? Math.max(least + random() * FIRST_MS, pause) : pause;
    },
    reset: () => {
      failures = 0;
    },
  };
}
