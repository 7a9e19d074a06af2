/** Something fetched, kept, and fetched again: for a provider's metadata and keys. */
import { SignetError } from "../errors.ts";
import { teller } from "../teller.ts";

export interface RefreshedOptions<T> {
  load(): Promise<{ value: T; freshMs: number }>;
  readonly clock: () => number;
  readonly onError?: ((error: Error) => void) | undefined;
  /** How long after it was fetched a value is used at most, when it cannot be fetched again. */
  readonly staleMs: number;
  /** The least time between two attempts, as long as there is a value. */
  readonly retryMs: number;
}

export interface Refreshed<T> {
  /** The value; fetched when there is none or it is no longer fresh. Calls made meanwhile share one fetch. */
  get(): Promise<T>;
  /** For when what `get` gave is not enough: the value fetched anew, unless that was tried within `retryMs`. */
  renewed(): Promise<T>;
}

export function createRefreshed<T>(options: RefreshedOptions<T>): Refreshed<T> {
  const { clock, staleMs, retryMs } = options;
  const tell = teller(options.onError);
  let kept: { value: T; at: number; freshUntil: number } | undefined;
  let attempt: Promise<T> | undefined;
  let attemptedAt = Number.NEGATIVE_INFINITY;
  let hasFailed = false;

  const load = async (): Promise<T> => {
    attemptedAt = clock();
    try {
      const { value, freshMs } = await options.load();
      kept = { value, at: clock(), freshUntil: clock() + freshMs };
      hasFailed = false;
      return value;
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      attempt = undefined;
    }
  };
  const shared = (): Promise<T> => {
    attempt ??= load();
    return attempt;
  };
  /** The provider is away: what is known goes on. For how long is seen to when somebody asks. */
  const bridged = (error: unknown): T => {
    if (!kept) throw error;
    tell(error instanceof Error ? error : new SignetError("provider_unreachable", String(error)));
    return kept.value;
  };
  const mayTry = () => attempt !== undefined || clock() >= attemptedAt + retryMs;

  return {
    get: async () => {
      if (kept && clock() < kept.freshUntil) return kept.value;
      if (!kept || clock() >= kept.at + staleMs) return shared();
      if (!mayTry()) return kept.value;
      const { value } = kept;
      const renewal = shared().catch(bridged);
      // Once it has failed nobody waits for the next attempts: a provider that hangs must not slow every request down.
      return hasFailed ? value : renewal;
    },
    renewed: async () => {
      if (kept && !mayTry()) return kept.value;
      return shared().catch(bridged);
    },
  };
}
