/**
 * How deeply JSON may be nested that somebody sends. Reading deep text costs nothing; writing it again runs out of stack,
 * and laid out line by line it grows with the square of its depth: 6,000 characters become 18 million.
 */
export const MOST_JSON_DEPTH = 32;

/** @param value as `JSON.parse` gives it. @param most of arrays and objects within each other, itself included */
export function isNestedWithin(value: unknown, most = MOST_JSON_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return true;
  return most > 0 && Object.values(value).every((member) => isNestedWithin(member, most - 1));
}
