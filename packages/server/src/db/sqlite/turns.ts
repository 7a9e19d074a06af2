/** Turns at the one connection to the file: transactions of different requests interleave at their awaits. */

export interface Turns {
  isTaken(): boolean;
  /** @throws TurnTimeout when it isn't ours in time: whoever has it is slow, or never gives it back */
  take(): Promise<void>;
  give(): void;
  /** Milliseconds since the turn was given to whoever has it; 0 when it is free. */
  takenFor(): number;
  /** How many wait. */
  waiting(): number;
}

export class TurnTimeout extends Error {
  constructor(milliseconds: number) {
    super(`the database was busy with another transaction for ${milliseconds} ms`);
    this.name = "TurnTimeout";
  }
}

interface Waiter {
  readonly timer: NodeJS.Timeout;
  resolve(): void;
}

/** Longer than any transaction of a request takes, and than a client should wait for its 503. */
const WAIT_MS = 5_000;

export function turns(waitMs = WAIT_MS): Turns {
  const waiting = new Set<Waiter>();
  let takenAt: number | undefined;

  const wait = () =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(waiter);
        reject(new TurnTimeout(waitMs));
      }, waitMs);
      const waiter = { timer, resolve };
      waiting.add(waiter);
    });

  return {
    isTaken: () => takenAt !== undefined,
    take: () => {
      if (takenAt !== undefined) return wait();
      takenAt = performance.now();
      return Promise.resolve();
    },
    give: () => {
      const [next] = waiting;
      takenAt = next && performance.now();
      if (!next) return;
      waiting.delete(next);
      clearTimeout(next.timer);
      next.resolve();
    },
    waiting: () => waiting.size,
    takenFor: () => (takenAt === undefined ? 0 : performance.now() - takenAt),
  };
}
