/** When a call of the service is made again, and after how long. */
import type { HttpAnswer } from "../provider/http.ts";

export interface Patience {
  /** Altogether. */
  readonly attempts: number;
  /** A service that asks for more than this is told about instead of waited for. */
  readonly longestWaitMs: number;
}

/** Of a program; a person who waits for a page has less. */
export const programPatience: Patience = { attempts: 3, longestWaitMs: 10_000 };

const FIRST_WAIT_MS = 200;

/** Not now, and not done: the service, or a proxy before it, has turned the call away. */
const turnedAway: readonly number[] = [429, 502, 503, 504];

/**
 * For calls that do the same however often they arrive.
 *
 * @param answer undefined when none came
 * @param attempt the one that ended so; 1 for the first
 * @returns milliseconds to wait, or undefined when the call has ended for good
 */
export function waitBeforeRetry(
  answer: HttpAnswer | undefined,
  attempt: number,
  { attempts, longestWaitMs }: Patience,
): number | undefined {
  if (attempt >= attempts) return undefined;
  if (answer && !turnedAway.includes(answer.status) && !isUnderWay(answer)) return undefined;
  const asked = retryAfterMs(answer);
  if (asked !== undefined) return asked <= longestWaitMs ? asked : undefined;
  // Spread, so that many callers that were turned away together do not come back together.
  return FIRST_WAIT_MS * 4 ** (attempt - 1) * (0.5 + Math.random() / 2);
}

/** The first request with this Idempotency-Key, whose answer was lost, is still worked on. */
function isUnderWay({ status, body }: HttpAnswer): boolean {
  return status === 409 && (body as { type?: unknown } | undefined)?.type === "urn:signet:error:under-way";
}

/** RFC 9110 §10.2.3, in seconds; the service never sends a date. */
function retryAfterMs(answer: HttpAnswer | undefined): number | undefined {
  const seconds = answer?.headers.get("retry-after") ?? "";
  return /^[0-9]{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

/** Ends early, without a fault, when the signal says so. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end, { once: true });
  });
}
