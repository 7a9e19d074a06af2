/** How many requests the agent asks for: what its policy lets it sign at the same time, without those that it has or may get. */
import { MAX_BATCH } from "../service/signing-service.ts";
import type { LeasedRequests } from "./leased-requests.ts";

/** Enough that the next request finds a waiting claim while the last one's answer is still on its way. */
const MAX_WAITING_CLAIMS = 8;
/** Requests that take longer to sign than this keep no others waiting. */
const BUSY_MS = 20;
/** Requests that may wait for users, per request that may be signed at the same time. */
const MAX_WAITING_PER_PLACE = 64;

interface PlacesOptions {
  readonly leased: Pick<LeasedRequests, "counts">;
  readonly concurrency: () => number;
}

export function openPlaces({ leased, concurrency }: PlacesOptions) {
  /** Whether the service hands out several at once; unknown before the first claim. */
  let inBatches: boolean | undefined;
  /** Requests that calls under way may bring. */
  let promised = 0;
  let claimedAt = Number.NEGATIVE_INFINITY;
  let isWaiting = false;

  /** @param freed places of requests that are about to end */
  function room(freed = 0): number {
    const { working, waiting } = leased.counts;
    const places = concurrency();
    return waiting >= places * MAX_WAITING_PER_PLACE ? 0 : places - working - promised + freed;
  }

  /** @returns to be called when the call has its answer */
  function promise(count: number): () => void {
    promised += count;
    return () => {
      promised -= count;
    };
  }

  return {
    promise,
    setBatches: (several: boolean): void => {
      inBatches = several;
    },
    onClaimed: (count: number): void => {
      // After a full batch there are more.
      claimedAt = count < MAX_BATCH ? performance.now() : Number.NEGATIVE_INFINITY;
    },
    /** For a call with this many signatures, whose requests leave their places to the next ones. */
    promiseNext: (freed: number): { max: number; release: () => void } | undefined => {
      const max = Math.min(MAX_BATCH, room(freed));
      return max <= 0 ? undefined : { max, release: promise(Math.max(0, max - freed)) };
    },
    /**
     * How many to ask for in one more claim; 0 when enough claims wait, or what was claimed is about to be signed.
     * @param whenSlow called when that takes its time
     */
    wanted: (claims: number, whenSlow: () => void): number => {
      if (inBatches === false) return claims < MAX_WAITING_CLAIMS && room() > 0 ? 1 : 0;
      if (claims > 0) return 0;
      const left = claimedAt + BUSY_MS - performance.now();
      if (leased.counts.working === 0 || left <= 0) return Math.min(MAX_BATCH, room());
      if (isWaiting) return 0;
      isWaiting = true;
      setTimeout(() => {
        isWaiting = false;
        whenSlow();
      }, left).unref();
      return 0;
    },
  };
}
