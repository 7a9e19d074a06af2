/**
 * A limited number of places, shared fairly: each owner has at most a share of them, and those who wait for one take turns
 * by owner. One organisation whose calls are slow holds its own share and nothing of the others'.
 */

export interface FairPlaces {
  /**
   * Waits for a place.
   * @returns a function that gives it back
   * @throws NoPlaceLeft at once when this owner has too many waiting; the signal's reason when it aborts first
   */
  take(owner: string, signal: AbortSignal): Promise<() => void>;
}

export interface PlaceLimits {
  readonly all: number;
  /** Of one owner. */
  readonly each: number;
  /** How many of one owner may wait. */
  readonly waiting: number;
}

export class NoPlaceLeft extends Error {}

type Grant = () => void;

export function fairPlaces({ all, each, waiting }: PlaceLimits): FairPlaces {
  /** How many places each owner has; without those that have none. */
  const taken = new Map<string, number>();
  /** Whose turn it is: the first owner comes next, and goes to the end after its turn. */
  const queues = new Map<string, Set<Grant>>();
  let free = all;

  const hasRoom = (owner: string) => (taken.get(owner) ?? 0) < each;
  const occupy = (owner: string) => {
    free--;
    taken.set(owner, (taken.get(owner) ?? 0) + 1);
    return () => {
      free++;
      const left = (taken.get(owner) ?? 0) - 1;
      if (left > 0) taken.set(owner, left);
      else taken.delete(owner);
      grantNext();
    };
  };
  const grantNext = () => {
    for (const [owner, queue] of queues) {
      if (free === 0) return;
      const [grant] = queue;
      if (!grant || !hasRoom(owner)) continue;
      queue.delete(grant);
      queues.delete(owner);
      if (queue.size > 0) queues.set(owner, queue);
      return grant();
    }
  };

  return {
    take: async (owner, signal) => {
      signal.throwIfAborted();
      // Nobody who could go waits while there is a free place, so that nobody is passed here.
      if (free > 0 && hasRoom(owner)) return occupy(owner);
      const queue = queues.get(owner) ?? new Set();
      if (queue.size >= waiting) throw new NoPlaceLeft();
      queues.set(owner, queue);
      return new Promise((resolve, reject) => {
        const leave = () => {
          queue.delete(grant);
          if (queue.size === 0 && queues.get(owner) === queue) queues.delete(owner);
          reject(signal.reason);
        };
        const grant = () => {
          signal.removeEventListener("abort", leave);
          resolve(occupy(owner));
        };
        queue.add(grant);
        signal.addEventListener("abort", leave, { once: true });
      });
    },
  };
}
