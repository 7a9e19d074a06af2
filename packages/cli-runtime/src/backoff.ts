/** How long to wait after a failure: full jitter under a doubling bound, so that clients do not come back together. */
import { setTimeout as delay } from "node:timers/promises";

export type Backoff = ReturnType<typeof backoff>;

export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
  /** The longest Retry-After that is honoured. */
  readonly maxRetryAfterMs: number;
}

export function backoff({ firstMs, maxMs, maxRetryAfterMs }: BackoffLimits, random = Math.random) {
  let failures = 0;
  return {
    /** Milliseconds until the next attempt. @param retryAfter seconds that the service asked for */
    next: (retryAfter = 0): number => {
      const bound = Math.min(maxMs, firstMs * 2 ** Math.min(failures, 16));
      failures += 1;
      // Half of the first bound at least: jitter near zero would be no pause at all.
      const pause = firstMs / 2 + random() * bound;
      if (retryAfter <= 0) return pause;
      return Math.max(Math.min(retryAfter * 1000, maxRetryAfterMs) + random() * firstMs, pause);
    },
    reset: (): void => {
      failures = 0;
    },
  };
}

export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, signal && { signal }).catch(() => undefined);
}
