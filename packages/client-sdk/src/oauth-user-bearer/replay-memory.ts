/** Detects replays of DPoP proofs (RFC 9449 §11.1). */
import { SignetError } from "../errors.ts";

/** Several instances behind one URL need a shared one, e.g. `SET key 1 NX PX keepMs` in Redis. */
export interface ReplayMemory {
  /**
   * Stores `id` and says whether it is new, in one atomic step.
   * @param id base64url, at most 43 characters
   * @param keepMs how long to remember it, in milliseconds
   * @returns false if `id` is already known
   */
  isFirst(id: string, keepMs: number): boolean | Promise<boolean>;
}

/** Options of `createReplayMemory`. */
export interface ReplayMemoryOptions {
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Maximum number of entries. Default 200,000, about 30 MB. */
  readonly most?: number;
}

const DEFAULT_MAX_ENTRIES = 200_000;

/** An in-process memory. When full, it rejects new proofs: forgetting one would allow its replay. */
export function createReplayMemory(options: ReplayMemoryOptions = {}): ReplayMemory {
  const { clock = Date.now, most = DEFAULT_MAX_ENTRIES } = options;
  /** In insertion order; with a constant `keepMs`, the oldest expire first. */
  const expiries = new Map<string, number>();
  const forgetExpired = (now: number) => {
    for (const [id, until] of expiries) {
      if (until > now) return;
      expiries.delete(id);
    }
  };
  return {
    isFirst: (id, keepMs) => {
      const now = clock();
      forgetExpired(now);
      const until = expiries.get(id);
      if (until !== undefined && until > now) return false;
      if (expiries.size >= most)
        throw new SignetError("token_not_proven", "Too many proofs. Retry later.", { status: 503 });
      expiries.delete(id);
      expiries.set(id, now + keepMs);
      return true;
    },
  };
}
