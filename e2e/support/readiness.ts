/** What a load balancer sees of a server, whatever its database does. */
import { setTimeout as delay } from "node:timers/promises";

export interface Watched {
  /** Of /readyz: every status there was. */
  readonly statuses: readonly number[];
  /** Milliseconds within which nine of ten answers came. */
  readonly ready: number;
  /** The same of /livez, which asks nobody: how busy the machine is. */
  readonly live: number;
}

const PAUSE_MS = 100;

/** Asks ten times a second. @returns what ends it, and tells */
export function watchReadiness(baseUrl: string): () => Promise<Watched> {
  let isOver = false;
  const statuses = new Set<number>();
  const took: Record<"ready" | "live", number[]> = { ready: [], live: [] };
  const ask = async (path: string, times: number[]): Promise<number> => {
    const asked = performance.now();
    const answer = await fetch(`${baseUrl}${path}`);
    await answer.body?.cancel();
    times.push(performance.now() - asked);
    return answer.status;
  };
  const watched = (async () => {
    while (!isOver) {
      await ask("/livez", took.live);
      statuses.add(await ask("/readyz", took.ready));
      await delay(PAUSE_MS);
    }
  })();
  return async () => {
    isOver = true;
    await watched;
    return { statuses: [...statuses], ready: ninthTenth(took.ready), live: ninthTenth(took.live) };
  };
}

const ninthTenth = (all: readonly number[]): number =>
  Math.round(all.toSorted((one, other) => one - other)[Math.floor(all.length * 0.9)] ?? 0);
