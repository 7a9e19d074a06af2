/** What is refused because the service is busy, or its database away, as counted lines: there may be thousands a second. */

export interface BusyLine {
  /** Requests since the last line with this cause. */
  readonly refused: number;
  readonly cause: string;
}

export interface BusyLog {
  note(error: unknown): void;
  /** Writes what is counted, and stops. */
  end(): void;
}

const EVERY_MS = 10_000;
/** Messages of other programs' errors may differ without end. */
const MAX_CAUSES = 20;
const MAX_CAUSE_LENGTH = 200;

/** The first refusal writes a line at once; what follows is counted, and written every ten seconds. */
export function openBusyLog(write: (line: BusyLine) => void, everyMs = EVERY_MS): BusyLog {
  const counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    timer = undefined;
    const found = [...counts].filter(([, refused]) => refused > 0);
    counts.clear();
    for (const [cause, refused] of found) write({ refused, cause });
    // Still busy: the next ones are counted too.
    if (found.length > 0) countFrom(found.map(([cause]) => cause));
  };
  const countFrom = (causes: readonly string[]) => {
    for (const cause of causes) counts.set(cause, 0);
    timer ??= setTimeout(flush, everyMs).unref();
  };
  return {
    note: (error) => {
      const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_CAUSE_LENGTH);
      const cause = counts.has(message) || counts.size < MAX_CAUSES ? message : "other";
      const counted = counts.get(cause);
      if (counted !== undefined) counts.set(cause, counted + 1);
      else {
        write({ refused: 1, cause });
        countFrom([cause]);
      }
    },
    end: () => {
      clearTimeout(timer);
      flush();
      clearTimeout(timer);
    },
  };
}
