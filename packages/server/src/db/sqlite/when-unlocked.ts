/**
 * Waits for another process's write lock without standing still: SQLite's own wait (`busy_timeout`) stops the whole process,
 * readers and health checks included.
 */
import { setTimeout as delay } from "node:timers/promises";

/** As long as SQLite waited before: a command beside the server may write a whole organisation. */
const WAIT_MS = 5_000;
const RETRY_MS = 10;

const SQLITE_BUSY = 5;
const isLocked = (error: unknown): boolean =>
  error instanceof Error &&
  "errcode" in error &&
  typeof error.errcode === "number" &&
  (error.errcode & 0xff) === SQLITE_BUSY;

/**
 * @param attempt takes the write lock; it must have done nothing when it throws SQLITE_BUSY
 * @throws SQLITE_BUSY after five seconds
 */
export async function whenUnlocked<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLocked(error) || performance.now() > deadline) throw error;
    }
    await delay(RETRY_MS);
  }
}
