/** Times of the JSON interfaces: RFC 3339, ours always in UTC (wire-contract.md §1). */

/** @param milliseconds since the epoch */
export const wireTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

export const wireTimeOrNull = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : wireTime(milliseconds);

const RFC_3339 =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** @returns milliseconds since the epoch; undefined for what is no moment of RFC 3339 §5.6 */
export function readWireTime(text: string): number | undefined {
  const [, date] = RFC_3339.exec(text) ?? [];
  if (date === undefined) return undefined;
  // `Date` takes the 31st of February for the 3rd of March.
  const day = Date.parse(date);
  if (Number.isNaN(day) || !wireTime(day).startsWith(date)) return undefined;
  return Date.parse(text.toUpperCase());
}
