/**
 * Polls a condition that another process or connection fulfils. The timeout suits a busy machine with few
 * cores, and stays below the 30 seconds after which caches refresh without a notification.
 */
import { setTimeout as delay } from "node:timers/promises";

/**
 * @param check returns true once the condition holds
 * @throws when the condition doesn't hold within `milliseconds`
 */
export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  milliseconds = 15_000,
): Promise<void> {
  const deadline = performance.now() + milliseconds;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`not within ${milliseconds} ms: ${what}`);
    await delay(10);
  }
}
