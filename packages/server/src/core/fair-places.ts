/**
 * A limited number of places, shared fairly: each owner has at most a share of them, those who wait take turns by owner, and
 * room to wait is taken from whoever has most of it. An owner that sends more, or whose work is slow, delays only its own.
 */

import { auditedRequest } from "./audit/audited-request.ts";

export interface FairPlaces {
  /**
   * Waits for a place.
   * @returns a function that gives it back
   * @throws NoPlaceLeft at once, or when an owner with less waiting comes; the signal's reason when it aborts first
   */
  take(owner: string, signal?: AbortSignal): Promise<() => void>;
}

export interface PlaceLimits {
  readonly all: number;
  /** Of one owner. */
  readonly each: number;
  /** How many may wait, of all owners. */
  readonly waiting: number;
}

export class NoPlaceLeft extends Error {}

interface Waiting {
  grant(): void;
  refuse(reason: unknown): void;
}

export function fairPlaces({ all, each, waiting }: PlaceLimits): FairPlaces {
  /** How many places each owner has; without those that have none. */
  const taken = new Map<string, number>();
  const lanes = waitingLanes(waiting);
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
      lanes.takeNext(hasRoom)?.grant();
    };
  };
  return {
    take: async (owner, signal) => {
      signal?.throwIfAborted();
      // Nobody who could go waits while there is a free place, so that nobody is passed here.
      if (free > 0 && hasRoom(owner)) return occupy(owner);
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const one = { grant: () => resolve(occupy(owner)), refuse: reject };
      lanes.add(owner, one);
      auditedRequest()?.onWait?.();
      const leave = () => {
        lanes.remove(owner, one);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      return promise.finally(() => signal?.removeEventListener("abort", leave));
    },
  };
}

/** Those who wait, by owner, in the order of the owners' turns. */
function waitingLanes(max: number) {
  /** The first owner comes next, and goes to the end after its turn. Without those that wait for nothing. */
  const lanes = new Map<string, Waiting[]>();
  let waiting = 0;

  const removeAt = (owner: string, lane: Waiting[], at: number): Waiting | undefined => {
    const [removed] = lane.splice(at, 1);
    waiting--;
    if (lane.length === 0) lanes.delete(owner);
    return removed;
  };
  /** @throws NoPlaceLeft if nobody has more waiting than this owner would have */
  const makeRoom = (owner: string): void => {
    const [most, longest] = [...lanes].reduce<readonly [string, Waiting[]]>(
      (one, other) => (other[1].length > one[1].length ? other : one),
      ["", []],
    );
    if (longest.length <= (lanes.get(owner)?.length ?? 0) + 1) throw new NoPlaceLeft();
    removeAt(most, longest, longest.length - 1)?.refuse(new NoPlaceLeft());
  };
  return {
    add: (owner: string, one: Waiting): void => {
      if (waiting >= max) makeRoom(owner);
      const lane = lanes.get(owner) ?? [];
      lane.push(one);
      lanes.set(owner, lane);
      waiting++;
    },
    remove: (owner: string, one: Waiting): void => {
      const lane = lanes.get(owner) ?? [];
      const at = lane.indexOf(one);
      if (at >= 0) removeAt(owner, lane, at);
    },
    takeNext: (mayGo: (owner: string) => boolean): Waiting | undefined => {
      for (const [owner, lane] of lanes) {
        if (!mayGo(owner)) continue;
        const next = removeAt(owner, lane, 0);
        if (lanes.delete(owner)) lanes.set(owner, lane);
        return next;
      }
      return undefined;
    },
  };
}
