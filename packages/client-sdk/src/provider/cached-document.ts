/** A fetched document, cached and fetched again when stale: a provider's metadata or key set. */
import { errorReporter } from "../application-callbacks.ts";
import { SignetError } from "../errors.ts";

export interface CachedDocumentOptions<T> {
  load(): Promise<{ value: T; freshMs: number }>;
  readonly clock: () => number;
  readonly onError?: ((error: Error) => void) | undefined;
  /** Maximum age of a value that can't be refreshed. */
  readonly staleMs: number;
  /** Minimum time between two attempts to replace a stale value. */
  readonly retryMs: number;
}

/** Attempts of `refresh` that may follow each other at once; another one is added every `BUDGET_MS / BUDGET`. */
const BUDGET = 10;
const BUDGET_MS = 60_000;

export function createCachedDocument<T>(options: CachedDocumentOptions<T>) {
  const { clock, staleMs, retryMs } = options;
  const reportError = errorReporter(options.onError);
  let cached: { value: T; at: number; freshUntil: number } | undefined;
  let pending: Promise<T> | undefined;
  let attemptedAt = Number.NEGATIVE_INFINITY;
  let loads = 0;
  let hasFailed = false;

  const load = async (): Promise<T> => {
    attemptedAt = clock();
    try {
      const { value, freshMs } = await options.load();
      cached = { value, at: clock(), freshUntil: clock() + freshMs };
      loads++;
      hasFailed = false;
      return value;
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      pending = undefined;
    }
  };
  const loadShared = (): Promise<T> => {
    pending ??= load();
    return pending;
  };
  const fallBack = (error: unknown): T => {
    if (!cached) throw error;
    reportError(error instanceof Error ? error : new SignetError("provider_unreachable", String(error)));
    return cached.value;
  };
  const mayTry = () => pending !== undefined || clock() >= attemptedAt + retryMs;
  const mayRefresh = createBudget(clock);

  return {
    /** How often it was fetched. */
    loads: (): number => loads,
    /** The cached value if fresh, otherwise fetched. Concurrent calls share one fetch. */
    get: async (): Promise<T> => {
      if (cached && clock() < cached.freshUntil) return cached.value;
      if (!cached || clock() >= cached.at + staleMs) return loadShared();
      if (!mayTry()) return cached.value;
      const { value } = cached;
      const refreshed = loadShared().catch(fallBack);
      // After a failure nobody waits for the next attempts: a hanging provider must not delay every request.
      return hasFailed ? value : refreshed;
    },
    /** Fetches again although the value is fresh, as long as the budget lasts: ten at once, then one every six seconds. */
    refresh: async (): Promise<T> => {
      if (cached && pending === undefined && !mayRefresh()) return cached.value;
      return loadShared().catch(fallBack);
    },
  };
}

/** A bucket of attempts that refills evenly, so that nobody who empties it causes a blind minute. */
function createBudget(clock: () => number): () => boolean {
  let left = BUDGET;
  let countedAt = clock();
  return () => {
    const now = clock();
    // A clock that was set back must not empty the budget.
    left = Math.min(BUDGET, left + (Math.max(0, now - countedAt) * BUDGET) / BUDGET_MS);
    countedAt = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
