/**
 * Guesses that wait in this process until another one on the same subject has been checked. It decides nothing: the database
 * has the counts, and whoever is woken asks it again. What another node has finished is noticed by polling.
 */
import { auditedRequest } from "../audit/audited-request.ts";

export interface AttemptQueue {
  /** Whether others wait already: who comes later stands behind them. */
  isWaiting(key: string): boolean;
  /**
   * Waits until it is worth asking again.
   * @param place.isFirst has waited before, and keeps its place at the front
   * @returns false when too many wait, or the deadline has passed
   */
  wait(key: string, place: { readonly isFirst: boolean; readonly deadline: number }): Promise<boolean>;
  /** An attempt has ended: wakes the next one. */
  wake(key: string): void;
  /** When an attempt that begins now gives up, on the clock of `performance.now()`. */
  deadline(): number;
}

export interface AttemptQueueOptions {
  readonly maxWaiting?: number;
  readonly maxWaitingPerKey?: number;
  readonly maxWaitMs?: number;
  readonly pollMs?: number;
}

interface Line {
  readonly waiting: Array<(isTurn: boolean) => void>;
  poll: NodeJS.Timeout | undefined;
}

/** Longer than a full password queue takes on a slow machine. */
const MAX_WAIT_MS = 30_000;

export function createAttemptQueue(options: AttemptQueueOptions = {}): AttemptQueue {
  const { maxWaiting = 1_000, maxWaitingPerKey = 128, maxWaitMs = MAX_WAIT_MS, pollMs = 50 } = options;
  const lines = new Map<string, Line>();
  let total = 0;

  function wake(key: string): void {
    const line = lines.get(key);
    if (!line) return;
    clearTimeout(line.poll);
    line.poll = undefined;
    line.waiting.shift()?.(true);
    settle(key, line);
  }

  /** Polls while somebody waits. */
  function settle(key: string, line: Line): void {
    if (line.waiting.length > 0) {
      line.poll ??= setTimeout(() => wake(key), pollMs);
      return;
    }
    clearTimeout(line.poll);
    lines.delete(key);
  }

  function leave(key: string, line: Line, resolve: (isTurn: boolean) => void): void {
    const at = line.waiting.indexOf(resolve);
    if (at < 0) return;
    line.waiting.splice(at, 1);
    resolve(false);
    settle(key, line);
  }

  return {
    isWaiting: (key) => lines.has(key),
    deadline: () => performance.now() + maxWaitMs,
    wake,
    wait: async (key, { isFirst, deadline }) => {
      const left = deadline - performance.now();
      const line: Line = lines.get(key) ?? { waiting: [], poll: undefined };
      const isFull = total >= maxWaiting || line.waiting.length >= maxWaitingPerKey;
      if (left <= 0 || (isFull && !isFirst)) return false;
      lines.set(key, line);
      total++;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      if (isFirst) line.waiting.unshift(resolve);
      else line.waiting.push(resolve);
      settle(key, line);
      auditedRequest()?.onWait?.();
      const timeout = setTimeout(() => leave(key, line, resolve), left);
      try {
        return await promise;
      } finally {
        clearTimeout(timeout);
        total--;
      }
    },
  };
}
