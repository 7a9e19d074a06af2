/** Times of the JSON APIs: RFC 3339, always UTC in responses (wire-contract.md §1). */

/** @param milliseconds since the epoch */
export const wireTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

export const wireTimeOrNull = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : wireTime(milliseconds);

const RFC_3339 =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** @returns milliseconds since the epoch; undefined when the text is not an RFC 3339 §5.6 date-time */
export function readWireTime(text: string): number | undefined {
  const [, date] = RFC_3339.exec(text) ?? [];
  if (date === undefined) return undefined;
  // `Date` reads 31 February as 3 March.
  const day = Date.parse(date);
  if (Number.isNaN(day) || !wireTime(day).startsWith(date)) return undefined;
  return Date.parse(text.toUpperCase());
}
