/** Names of actors and targets, for readers of the audit log. */
import { isUuid } from "@signet/protocol/hash";
import type { Db } from "../../db/open.ts";
import { emailKey } from "../users/user.ts";
import { findUserByEmail } from "../users/users.store.ts";
import { namedKinds, selectNames } from "./audit.store.ts";

/**
 * @param actors as in `AuditEvent.actor`; also of other `namedKinds`, which are targets only
 * @returns by actor; unnamed and deleted ones are missing
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

const withoutId = ["operator", "system", "anonymous"];
/** Those whose records are actors too. */
export const actingKinds: readonly string[] = [
  "user",
  "client",
  "system-account",
  "agent",
  "device",
  "portal-link",
  "initial-access-token",
];

/**
 * Resolves what a reader types into the actor filter.
 * @param text an email address of the organisation, an id, or an actor as in the log
 * @returns matching actors; empty without a match
 */
export async function matchActors(db: Db, orgId: string, text: string): Promise<readonly string[]> {
  const input = text.trim();
  if (input.includes("@")) {
    const found = await findUserByEmail(db, orgId, emailKey(input));
    return found ? [`user:${found.user.id}`] : [];
  }
  const lower = input.toLowerCase();
  if (isUuid(lower)) return actingKinds.map((kind) => `${kind}:${lower}`);
  const isActor = withoutId.includes(lower) || actingKinds.some((kind) => lower.startsWith(`${kind}:`));
  return isActor ? [lower] : [];
}
