/** The entity tag of a record: a digest of what is sent, so that it changes with the record and nothing else. */
import { sha256Base64url } from "@signet/protocol/hash";

/** @param without members that change without the record, e.g. `lastUsedAt`, or `keys.lastUsedAt` of each of the keys */
export function tagOf(record: object, without: readonly string[] = []): string {
  const members = Object.entries(record)
    .filter(([name]) => !without.includes(name))
    .map(([name, value]) => {
      const below = without.flatMap((path) =>
        path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : [],
      );
      return [
        name,
        below.length > 0 && Array.isArray(value) ? value.map((one) => leaving(one, below)) : value,
      ];
    });
  return `"${sha256Base64url(JSON.stringify(members)).slice(0, 22)}"`;
}

const leaving = (item: object, without: readonly string[]) =>
  Object.entries(item).filter(([name]) => !without.includes(name));
