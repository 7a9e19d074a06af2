/** Whether this process still does its work: it may answer the supervisor and nobody else. */

export interface ProcessState {
  isStuck(): boolean;
  close(): void;
}

const BEAT_MS = 1_000;
/** A process that was away for so long has kept every client waiting. */
const LONGEST_PAUSE_MS = 5_000;
/** It is told for long enough to be seen by a supervisor that asks every ten seconds. */
const TOLD_MS = 15_000;
/** No transaction takes as long: one that has kept the others waiting for this time never ends. */
export const STUCK_MS = 10_000;

/** @param stuckFor how long the database's connections are held by what does nothing with them, in milliseconds */
export function watchProcess(stuckFor: () => number): ProcessState {
  let beatAt = performance.now();
  let pausedAt = Number.NEGATIVE_INFINITY;
  const beat = () => {
    const now = performance.now();
    if (now - beatAt > BEAT_MS + LONGEST_PAUSE_MS) pausedAt = now;
    beatAt = now;
  };
  const timer = setInterval(beat, BEAT_MS).unref();
  return {
    isStuck: () => {
      beat();
      return performance.now() - pausedAt < TOLD_MS || stuckFor() > STUCK_MS;
    },
    close: () => clearInterval(timer),
  };
}
