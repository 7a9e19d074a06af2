/** Optimistic locking: a form carries the version of the record that its sender saw, and changes no other one. */
import { createHash } from "node:crypto";

/**
 * The version that a form carries in its field `seen`: changes with any member of the record.
 * @param record its editable members; or its version number, where it has one
 */
export function versionOf(record: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(record)))
    .digest("base64url")
    .slice(0, 22);
}

/** Arrays become objects by index; JSON leaves out undefined members anyway. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}

/** Thrown within the transaction, so that nothing is written. */
export class VersionConflict extends Error {
  constructor() {
    super("the record has changed since the form was shown");
    this.name = "VersionConflict";
  }
}

/** @throws VersionConflict */
export function requireVersion(version: string | undefined, record: unknown): void {
  if (version !== versionOf(record)) throw new VersionConflict();
}
