/**
 * One piece of work for many who want its outcome: requests that come while it is under way share it, and those that come
 * soon after get the same again. Tabs and parallel requests hold the same refresh token, and it can be used only once.
 */

export interface SingleFlight<T> {
  /**
   * @param key a hash: keys are kept, and must not be of use to anybody
   * @param work never started twice for a key that is under way or whose outcome is still kept
   */
  run(key: string, work: () => Promise<T>): Promise<T>;
}

export interface SingleFlightOptions<T> {
  readonly clock: () => number;
  /** Milliseconds for which an outcome is given again; 0 forgets it at once. What throws is never kept. */
  readonly keepMs: (outcome: T) => number;
  /** Outcomes kept at most; the oldest go first. */
  readonly most: number;
}

interface Flight<T> {
  readonly outcome: Promise<T>;
  landed: { readonly value: T; readonly until: number } | undefined;
}

export function createSingleFlight<T>({ clock, keepMs, most }: SingleFlightOptions<T>): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>();

  const isOver = ({ landed }: Flight<T>) => landed !== undefined && landed.until <= clock();

  /** The list is in the order of age: what is over goes as soon as it is the oldest, and its tokens with it. */
  const tidy = () => {
    for (const [key, flight] of flights) {
      if (!isOver(flight)) break;
      flights.delete(key);
    }
    for (const [key, { landed }] of flights) {
      if (flights.size < most) return;
      if (landed) flights.delete(key);
    }
  };

  const begin = (key: string, work: () => Promise<T>): Promise<T> => {
    tidy();
    // Begun in a later turn, so that work that throws at once finds its flight on the list as well.
    const flight: Flight<T> = { outcome: Promise.resolve().then(work), landed: undefined };
    flights.set(key, flight);
    flight.outcome.then(
      (value) => {
        const until = clock() + keepMs(value);
        if (until > clock()) flight.landed = { value, until };
        else flights.delete(key);
      },
      () => void flights.delete(key),
    );
    return flight.outcome;
  };

  return {
    run: (key, work) => {
      const flight = flights.get(key);
      if (flight && !isOver(flight)) return flight.outcome;
      // Put at the end of the list again: the list is in the order of age.
      flights.delete(key);
      return begin(key, work);
    },
  };
}
