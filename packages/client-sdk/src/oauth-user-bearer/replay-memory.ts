/** What tells a first use from a second: for proofs that are good once (RFC 9449 §11.1). */
import { SignetError } from "../errors.ts";

/** For several instances behind one address, give them one that they share, e.g. `SET key 1 NX PX keepMs` in Redis. */
export interface ReplayMemory {
  /**
   * Remembers `id`, in one step with the look whether it was there.
   *
   * @param id 43 characters at most, base64url
   * @param keepMs how long to remember, in milliseconds
   * @returns false when `id` is remembered already
   */
  isFirst(id: string, keepMs: number): boolean | Promise<boolean>;
}

/** What `createReplayMemory` may be told. */
export interface ReplayMemoryOptions {
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Entries at most. Default 200,000, some 30 MB. */
  readonly most?: number;
}

const DEFAULT_MOST = 200_000;

/**
 * A memory of this process. When it is full of what must still be remembered, it takes nothing new: to forget would let a
 * proof be used twice.
 */
export function createReplayMemory(options: ReplayMemoryOptions = {}): ReplayMemory {
  const { clock = Date.now, most = DEFAULT_MOST } = options;
  const untilById = new Map<string, number>();
  const forgetOld = (now: number) => {
    // In the order of their coming: whoever keeps all for the same time has the oldest at the front.
    for (const [id, until] of untilById) {
      if (until > now) return;
      untilById.delete(id);
    }
  };
  return {
    isFirst: (id, keepMs) => {
      const now = clock();
      forgetOld(now);
      const until = untilById.get(id);
      if (until !== undefined && until > now) return false;
      if (untilById.size >= most)
        throw new SignetError("token_not_proven", "Too many proofs at once, try again later.", {
          status: 503,
        });
      untilById.delete(id);
      untilById.set(id, now + keepMs);
      return true;
    },
  };
}
