/**
 * How busy the event loop is, and what it means for how many requests are worked on at once. A process that computes all the time
 * answers no more of them by beginning more; one that waits for its database does.
 */
import { type EventLoopUtilization, performance } from "node:perf_hooks";

export interface LoopGauge {
  /** What was before tells nothing of what comes. */
  begin(): void;
  /** To be asked every few milliseconds. @param isWanted whether more places would be taken at once */
  placesAfter(places: number, isWanted: boolean): number;
}

/** Long enough for several turns of the event loop. */
const WINDOW_MS = 45;
const BUSY = 0.95;
const RESTS = 0.88;

type Use = Pick<EventLoopUtilization, "active" | "idle">;

export function loopGauge(read: () => Use = performance.eventLoopUtilization): LoopGauge {
  let before = read();
  return {
    begin: () => {
      before = read();
    },
    placesAfter: (places, isWanted) => {
      const current = read();
      const [active, idle] = [current.active - before.active, current.idle - before.idle];
      if (active + idle < WINDOW_MS) return places;
      before = current;
      const busy = active / (active + idle);
      if (busy > BUSY) return Math.floor(places / 2);
      return isWanted && busy < RESTS ? Math.ceil(places * 1.25) : places;
    },
  };
}
