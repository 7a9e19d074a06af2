/**
 * For what another process or connection does on its own: asked again until it holds. The limit is for a busy machine with few
 * cores: far longer than the work takes, and shorter than the 30 seconds after which caches look again without being told.
 */
import { setTimeout as delay } from "node:timers/promises";

/**
 * @param check true when it holds
 * @throws when it does not hold within `milliseconds`
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
