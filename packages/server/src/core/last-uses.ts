/**
 * When something was used last, written some time later and in one go: a request must not cost a durable write for a date
 * that only people read.
 */
export interface LastUses<Use> {
  /** The newest use of a key takes the place of the one before. */
  note(key: string, use: Use): void;
  flush(): Promise<void>;
  /** Flushes and stops. */
  close(): Promise<void>;
}

const EVERY_MS = 30_000;

export function lastUses<Use>(deps: {
  write(use: Use): Promise<void>;
  onError(error: unknown): void;
}): LastUses<Use> {
  const noted = new Map<string, Use>();
  const flush = async () => {
    // What cannot be written stays for the next time; what was noted anew while it was written, too.
    for (const [key, use] of [...noted]) {
      await deps.write(use);
      if (noted.get(key) === use) noted.delete(key);
    }
  };
  const timer = setInterval(() => flush().catch(deps.onError), EVERY_MS);
  timer.unref();
  return {
    note: (key, use) => void noted.set(key, use),
    flush,
    close: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}
