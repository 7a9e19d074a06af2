/**
 * Maximum nesting of JSON that others send. Parsing deep text is cheap; serialising it overflows the stack, and indented it
 * grows with the square of its depth: 6,000 characters become 18 million.
 */
export const MAX_JSON_DEPTH = 32;

/** @param value as from `JSON.parse`. @param max levels of arrays and objects, itself included */
export function isNestedWithin(value: unknown, max = MAX_JSON_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return true;
  return max > 0 && Object.values(value).every((member) => isNestedWithin(member, max - 1));
}
