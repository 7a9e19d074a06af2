/** The names of those who acted, and of what they acted on, for people who read the audit log. */
import type { Db } from "../../db/open.ts";
import { namedKinds, selectNames } from "./audit.store.ts";

/**
 * @param actors as in `AuditEvent.actor`; also `pool:<id>` and `scope:<id>`, which act on nothing themselves
 * @returns by actor; those without a name, or gone, are not in it
 */
export async function findActorNames(
  db: Db,
  orgId: string,
  actors: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const kind of namedKinds) {
    const prefix = `${kind}:`;
    const ids = actors.filter((actor) => actor.startsWith(prefix)).map((actor) => actor.slice(prefix.length));
    for (const { id, name } of await selectNames(db, orgId, kind, [...new Set(ids)]))
      names.set(`${prefix}${id}`, name);
  }
  return names;
}
