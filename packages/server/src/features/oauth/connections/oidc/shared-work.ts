/** One call of a provider at a time for what many ask at once: anybody can make them ask, and the organisation's calls are limited. */

export interface SharedWork<Result> {
  /** Whoever asks for the same while it is under way gets the same result, or error. */
  run(key: string, work: () => Promise<Result>): Promise<Result>;
  has(key: string): boolean;
}

export function sharedWork<Result>(): SharedWork<Result> {
  const underWay = new Map<string, Promise<Result>>();
  return {
    has: (key) => underWay.has(key),
    run: (key, work) => {
      const present = underWay.get(key);
      if (present) return present;
      const started = work().finally(() => underWay.delete(key));
      underWay.set(key, started);
      return started;
    },
  };
}
