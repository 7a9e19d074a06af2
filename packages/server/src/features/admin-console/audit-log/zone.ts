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

/** What a clock there is ahead of UTC, in milliseconds. */
function offsetAt(at: number, zone: string): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const { year, month, day, hour, minute, second } = parts;
  const shown = Date.parse(`${year?.padStart(4, "0")}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return shown - (at - (((at % 1_000) + 1_000) % 1_000));
}

/**
 * Twice, as the offset at midnight UTC need not be the one at midnight there: clocks are put forward and back.
 * @param midnight of the same date in UTC @returns when that date begins there
 */
export function beginsInZone(midnight: number, zone: string): number {
  const near = midnight - offsetAt(midnight, zone);
  return midnight - offsetAt(near, zone);
}
