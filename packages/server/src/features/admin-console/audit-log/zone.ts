/** Days in the zone of a reader, whose browser tells its IANA name. */

const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 500;

/** Expensive to create, and there are some hundred zones. @throws RangeError for what is no zone */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en-GB", {
    ...{ timeZone: zone, hourCycle: "h23", era: "short" },
    ...{ year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit", second: "2-digit" },
  });
  if (formats.size < MAX_FORMATS) formats.set(zone, made);
  return made;
}

export function isZone(text: string): boolean {
  if (!/^[A-Za-z][\w+/-]{1,62}$/.test(text)) return false;
  try {
    return formatOf(text) !== undefined;
  } catch {
    return false;
  }
}

const PARTS = ["year", "month", "day", "hour", "minute", "second"] as const;

/** What a clock there is ahead of UTC, in milliseconds. */
function offsetAt(at: number, zone: string): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = PARTS.map((name) =>
    Number(parts[name]),
  );
  // The year before 1 is 0.
  const shown = new Date(0).setUTCFullYear(parts["era"] === "BC" ? 1 - year : year, month - 1, day);
  const clock = new Date(shown).setUTCHours(hour, minute, second);
  return clock - (at - (((at % 1_000) + 1_000) % 1_000));
}

const DAY_MS = 86_400_000;

/**
 * By the offsets before and after a change of the clocks. Where midnight comes twice, the day begins with the first; where clocks
 * are put forward over it, it begins at the later of the two times, of which neither is midnight.
 * @param midnight of the same date in UTC @returns when that date begins there
 */
export function beginsInZone(midnight: number, zone: string): number {
  const either = [midnight - DAY_MS, midnight + DAY_MS].map((near) => midnight - offsetAt(near, zone));
  const midnights = either.filter((at) => at + offsetAt(at, zone) === midnight);
  return midnights.length > 0 ? Math.min(...midnights) : Math.max(...either);
}
