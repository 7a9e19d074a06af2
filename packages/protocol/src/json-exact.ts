/** JSON that others send, parsed: whether every part of it can be stored and written again as it came. */

/**
 * False for a text or name with half of a surrogate pair (`"\ud800"`, RFC 8259 §8.2), which UTF-8 can't hold, and for a number
 * beyond the range (`1e999`, §6), which would be written as null.
 * @param value as from `JSON.parse`, within a depth (json-depth.ts)
 */
export function isExactJson(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isExactJson);
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isExactJson(member));
}
