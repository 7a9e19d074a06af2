/** The entity tag of a record: a digest of what is sent, so that it changes with the record and nothing else. */
import { sha256Base64url } from "@signet/protocol/hash";

/** @param without members that change without the record, e.g. its last use */
export function tagOf(record: object, without: readonly string[] = []): string {
  const members = Object.entries(record).filter(([name]) => !without.includes(name));
  return `"${sha256Base64url(JSON.stringify(members)).slice(0, 22)}"`;
}
