/**
 * A bounded queue whose places and turns are shared fairly between organisations: whoever sends more only waits longer
 * itself. In memory, because it shares this process's processors.
 */

export interface FairQueueOptions {
  /** Works that run at once. */
  readonly concurrency: number;
  /** Places of all organisations. */
  readonly maxWaiting: number;
  /** Thrown for work that gets no place, or loses it to an organisation with fewer. */
  readonly full: () => Error;
}

interface Waiting {
  start(): void;
  refuse(error: Error): void;
}

export type FairQueue = <T>(orgId: string, work: () => Promise<T>) => Promise<T>;

export function createFairQueue({ concurrency, maxWaiting, full }: FairQueueOptions): FairQueue {
  /** In the order of their turns. Organisations without waiting work are not in it. */
  const lanes = new Map<string, Waiting[]>();
  let waiting = 0;
  let running = 0;

  const takeNext = (): Waiting | undefined => {
    const [turn] = lanes;
    if (!turn) return undefined;
    const [orgId, lane] = turn;
    const next = lane.shift();
    waiting--;
    // To the back, behind every organisation that has not had its turn since.
    lanes.delete(orgId);
    if (lane.length > 0) lanes.set(orgId, lane);
    return next;
  };

  /** @returns false if nobody has more places than this organisation would have */
  const makePlace = (orgId: string): boolean => {
    if (waiting < maxWaiting) return true;
    const [longest, lane] = [...lanes].reduce<readonly [string, Waiting[]]>(
      (most, other) => (other[1].length > most[1].length ? other : most),
      ["", []],
    );
    if (lane.length <= (lanes.get(orgId)?.length ?? 0) + 1) return false;
    lane.pop()?.refuse(full());
    waiting--;
    if (lane.length === 0) lanes.delete(longest);
    return true;
  };

  const wait = (orgId: string): Promise<void> => {
    if (!makePlace(orgId)) throw full();
    return new Promise<void>((resolve, reject) => {
      const lane = lanes.get(orgId) ?? [];
      lane.push({ start: resolve, refuse: reject });
      lanes.set(orgId, lane);
      waiting++;
    });
  };

  return async (orgId, work) => {
    if (running < concurrency) running++;
    else await wait(orgId);
    try {
      return await work();
    } finally {
      const next = takeNext();
      if (next) next.start();
      else running--;
    }
  };
}
