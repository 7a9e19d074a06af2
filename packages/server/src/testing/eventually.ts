/** For what another process or connection does on its own: asked again until it holds. */
import { setTimeout as delay } from "node:timers/promises";

/**
 * @param check true when it holds
 * @throws when it does not hold within `milliseconds`
 */
export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  milliseconds = 1_000,
): Promise<void> {
  const deadline = performance.now() + milliseconds;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`not within ${milliseconds} ms: ${what}`);
    await delay(10);
  }
}
