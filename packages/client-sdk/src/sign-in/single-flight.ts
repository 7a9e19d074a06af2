/** Shares one piece of work, and its result for a while, among requests: a refresh token, for example, is single-use. */

export type SingleFlight<T> = ReturnType<typeof createSingleFlight<T>>;

interface SingleFlightOptions<T> {
  readonly clock: () => number;
  /** Milliseconds to keep a result; 0 forgets it immediately. Errors are never kept. */
  readonly keepMs: (result: T) => number;
  /** Results kept at most; the oldest go first. */
  readonly maxEntries: number;
}

interface Flight<T> {
  readonly result: Promise<T>;
  keptUntil: number | undefined;
}

export function createSingleFlight<T>({ clock, keepMs, maxEntries }: SingleFlightOptions<T>) {
  /** In the order of age. */
  const flights = new Map<string, Flight<T>>();
  const isExpired = ({ keptUntil }: Flight<T>) => keptUntil !== undefined && keptUntil <= clock();

  /** Expired results go as soon as they are the oldest, and their tokens with them. */
  const evict = () => {
    for (const [key, flight] of flights) {
      if (!isExpired(flight)) break;
      flights.delete(key);
    }
    for (const [key, { keptUntil }] of flights) {
      if (flights.size < maxEntries) return;
      if (keptUntil !== undefined) flights.delete(key);
    }
  };

  const start = (key: string, work: () => Promise<T>): Promise<T> => {
    evict();
    // Started in a later turn, so that the flight is registered even if the work throws immediately.
    const flight: Flight<T> = { result: Promise.resolve().then(work), keptUntil: undefined };
    flights.set(key, flight);
    flight.result.then(
      (value) => {
        const until = clock() + keepMs(value);
        if (until > clock()) flight.keptUntil = until;
        else flights.delete(key);
      },
      () => void flights.delete(key),
    );
    return flight.result;
  };

  return {
    /** Whether `run` has a result at once. */
    isKept: (key: string): boolean => {
      const flight = flights.get(key);
      return flight?.keptUntil !== undefined && !isExpired(flight);
    },
    /** Starts no work while some with this key is pending or its result kept. @param key a hash: keys are stored */
    run: (key: string, work: () => Promise<T>): Promise<T> => {
      const flight = flights.get(key);
      if (flight && !isExpired(flight)) return flight.result;
      // Deleted first, because the map must stay in the order of age.
      flights.delete(key);
      return start(key, work);
    },
  };
}
