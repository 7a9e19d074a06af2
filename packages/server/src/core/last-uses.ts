/**
 * Last-used times, written in batches after a delay: a request must not cost a durable write for a date that is only
 * displayed.
 */
import { oneAtATime } from "./one-at-a-time.ts";

export interface LastUses<Use> {
  /** Replaces the previous use of the key. */
  note(key: string, use: Use): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

const FLUSH_INTERVAL_MS = 30_000;

export function lastUses<Use>(deps: {
  write(use: Use): Promise<void>;
  onError(error: unknown): void;
}): LastUses<Use> {
  const pending = new Map<string, Use>();
  const write = async () => {
    // A use that can't be written, or is pending again during the write, stays for the next flush.
    for (const [key, use] of [...pending]) {
      await deps.write(use);
      if (pending.get(key) === use) pending.delete(key);
    }
  };
  // Closing waits for a flush that is under way: after it the database is closed.
  const flush = oneAtATime(write);
  const timer = setInterval(() => flush().catch(deps.onError), FLUSH_INTERVAL_MS);
  timer.unref();
  return {
    note: (key, use) => void pending.set(key, use),
    flush,
    close: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}
