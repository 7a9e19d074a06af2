/** When and how often a call to the service is retried. */
import type { HttpAnswer } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";

export interface RetryLimits {
  /** In total. */
  readonly attempts: number;
  /** If the service asks for a longer wait, the call fails instead. */
  readonly maxWaitMs: number;
}

/** For programs; users waiting for a page have less patience. */
export const defaultRetryLimits: RetryLimits = { attempts: 3, maxWaitMs: 10_000 };

const FIRST_WAIT_MS = 200;

/** The service, or a proxy in front of it, did not process the call. */
const retryableStatuses: readonly number[] = [429, 502, 503, 504];

/**
 * For idempotent calls.
 *
 * @param response undefined if there was none
 * @param attempt the one that failed; 1 for the first
 * @returns milliseconds to wait, or undefined to give up
 */
export function retryDelay(
  response: HttpAnswer | undefined,
  attempt: number,
  { attempts, maxWaitMs }: RetryLimits,
): number | undefined {
  if (attempt >= attempts) return undefined;
  if (response && !retryableStatuses.includes(response.status) && !isInProgress(response)) return undefined;
  const retryAfter = retryAfterMs(response);
  if (retryAfter !== undefined) return retryAfter <= maxWaitMs ? retryAfter : undefined;
  // Jitter, so that callers rejected together don't return together.
  return FIRST_WAIT_MS * 4 ** (attempt - 1) * (0.5 + Math.random() / 2);
}

/** The first request with this Idempotency-Key, whose response was lost, is still being processed. */
function isInProgress({ status, body }: HttpAnswer): boolean {
  return status === 409 && isRecord(body) && body["type"] === "urn:signet:error:under-way";
}

/** RFC 9110 §10.2.3, in seconds; the service never sends a date. */
function retryAfterMs(response: HttpAnswer | undefined): number | undefined {
  const seconds = response?.headers.get("retry-after") ?? "";
  return /^[0-9]{1,9}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}
