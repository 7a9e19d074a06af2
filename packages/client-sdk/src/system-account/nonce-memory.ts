/** Detects replays of requests signed in the strict form. */
import { SignetError } from "../errors.ts";

/**
 * Several instances of an application need a shared one: a table or cache with a unique key and an expiry. The in-process default
 * forgets everything at a restart, so that requests of the last five minutes could be replayed.
 */
export interface NonceMemory {
  /**
   * Stores a nonce. Only called for valid signatures.
   * @param name key pair and nonce
   * @param expiresAt milliseconds since the epoch, after which the nonce may be forgotten
   * @returns whether the nonce is new, determined and stored in one atomic step
   */
  use(name: string, expiresAt: number): Promise<boolean>;
}

/**
 * An in-process memory, the default of the filter.
 * @param most maximum number of nonces; when full of valid ones, further requests are rejected (`signature`, 503) rather than a
 * nonce forgotten
 */
export function createNonceMemory({
  clock = Date.now,
  most = 100_000,
}: {
  readonly clock?: () => number;
  readonly most?: number;
} = {}): NonceMemory {
  const expiries = new Map<string, number>();
  return {
    use: async (name, expiresAt) => {
      const now = clock();
      const until = expiries.get(name);
      if (until !== undefined && until > now) return false;
      if (expiries.size >= most)
        for (const [key, expiry] of expiries) if (expiry <= now) expiries.delete(key);
      if (expiries.size >= most)
        throw new SignetError("signature", "Too many signed requests. Retry later.", { status: 503 });
      expiries.set(name, expiresAt);
      return true;
    },
  };
}
