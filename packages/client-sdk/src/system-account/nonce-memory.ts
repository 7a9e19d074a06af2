/** Which nonces have been used: what makes the strict form hold once. */
import { SignetError } from "../errors.ts";

/**
 * Several instances of an application share one: a table or a cache with a unique key and an end to each entry. After a
 * restart the default one knows nothing, so that a request of the last five minutes could be sent again.
 */
export interface NonceMemory {
  /**
   * Remembers a nonce; only what was signed rightly gets here.
   *
   * @param name of the pair of keys and the nonce together
   * @param expiresAt milliseconds since the epoch, after which it may be forgotten
   * @returns whether it is the first time: decided and remembered in one step
   */
  use(name: string, expiresAt: number): Promise<boolean>;
}

/**
 * A memory of this process, until it ends: the default of the filter.
 *
 * @param most nonces kept at once: when so many are still good, further requests are refused rather than a used nonce
 * forgotten (`signature`, 503)
 */
export function createNonceMemory({
  clock = Date.now,
  most = 100_000,
}: {
  readonly clock?: () => number;
  readonly most?: number;
} = {}): NonceMemory {
  const used = new Map<string, number>();
  return {
    use: async (name, expiresAt) => {
      const now = clock();
      const before = used.get(name);
      if (before !== undefined && before > now) return false;
      if (used.size >= most) for (const [one, until] of used) if (until <= now) used.delete(one);
      if (used.size >= most)
        throw new SignetError("signature", "Too many signed requests at once.", { status: 503 });
      used.set(name, expiresAt);
      return true;
    },
  };
}
