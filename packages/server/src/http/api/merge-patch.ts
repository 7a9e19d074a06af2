/** JSON Merge Patch (RFC 7396): a member that is null is removed, an object is merged, anything else replaces. */

export const MERGE_PATCH_TYPE = "application/merge-patch+json";

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  // Not by assignment: `__proto__` is a name like any other.
  return Object.fromEntries(merged);
}
